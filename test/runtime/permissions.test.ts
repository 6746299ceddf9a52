import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Person, parseEvent, type Question, type Rule } from '../../src/index.js'
import { bench, dataOf, runToEnd } from '../support/bench.js'

const write = (path: string, content = 'x') => ({ calls: [{ write_file: { path, content } }] })
const command = (line: string) => ({ calls: [{ run_command: { command: line } }] })
const done = { text: 'Done.' }
/** What git calls a file with `SECRET=1` in it. */
const BLOB = createHash('sha1').update('blob 9\0SECRET=1\n').digest('hex')

function person(answer: 'allow' | 'deny', grant: Rule | null = null): Person & { asked: Question[] } {
  const asked: Question[] = []
  return {
    asked,
    permit: async (question) => {
      asked.push(question)
      return { answer, grant, by: 'tester', note: answer === 'deny' ? 'use another file' : null }
    },
    answer: async ({ options }) => options[1] ?? null,
  }
}

describe('a call that asks', () => {
  it('is made when the person says yes, and the log says who did', async () => {
    const { retinue, cwd } = await bench({ root: [write('a.txt'), done] })
    const somebody = person('allow')
    const { events } = await runToEnd(retinue, { person: somebody })
    expect(somebody.asked).toMatchObject([
      { tool: 'write_file', summary: expect.stringContaining('a.txt'), reason: 'writes ask in normal mode' },
    ])
    expect(dataOf(events, 'permission.answered')).toMatchObject([{ answer: 'allow', by: 'tester' }])
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('x')
  })

  it('is not made when the person says no, and the agent hears why', async () => {
    const { retinue, model, cwd } = await bench({
      root: [write('a.txt'), { expect: 'tester said no: use another file', ...done }],
    })
    const { result } = await runToEnd(retinue, { person: person('deny') })
    expect(result).toMatchObject({ outcome: 'completed', tool_calls: 0, files_changed: [] })
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    model.assertAllUsed()
  })

  it('is denied when nobody is there, and the agent is told so', async () => {
    const { retinue, model, cwd } = await bench({ root: [write('a.txt'), { expect: 'nobody to ask', ...done }] })
    await runToEnd(retinue)
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    model.assertAllUsed()
  })

  it('is not asked again when the person granted a rule for the rest of the run, and everything else still is', async () => {
    const grant: Rule = { decision: 'allow', tool: 'run_command', pattern: 'echo a *' }
    const { retinue } = await bench({
      root: [command('echo a 1'), command('echo a 2'), command('echo b'), command('echo a 3; touch b'), done],
    })
    const somebody = person('allow', grant)
    await runToEnd(retinue, { person: somebody })
    expect(somebody.asked.map(({ summary }) => summary)).toEqual([
      'run echo a 1',
      'run echo b',
      'run echo a 3; touch b',
    ])
  })

  it('is asked each time where a rule says so, whatever was granted', async () => {
    const grant: Rule = { decision: 'allow', tool: 'run_command', pattern: 'echo a *' }
    const rules: Rule[] = [{ decision: 'ask', tool: 'run_command', pattern: 'echo a *' }]
    const { retinue } = await bench({ root: [command('echo a 1'), command('echo a 2'), done] }, { settings: { rules } })
    const somebody = person('allow', grant)
    await runToEnd(retinue, { person: somebody })
    expect(somebody.asked.map(({ grant }) => grant)).toEqual([null, null])
  })

  it('is not asked at all in a run whose contract has nobody to ask, also when it is resumed before a person', async () => {
    const { retinue, cwd } = await bench({
      root: [{ calls: [{ list_dir: {} }] }, { ...write('a.txt'), delay_ms: 200 }, done],
    })
    const run = retinue.run({ task: 'x' })
    let requests = 0
    for await (const event of retinue.follow(run.run_id))
      if (event.type === 'model.requested' && ++requests === 2) break
    run.leave('later')
    await run.result().catch(() => {})
    const somebody = person('allow')
    await retinue.resume(run.run_id, { person: somebody }).result()
    expect(somebody.asked).toEqual([])
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  })

  it('is allowed or denied by rules without asking', async () => {
    const rules: Rule[] = [
      { decision: 'allow', tool: 'write_file', pattern: 'docs/**' },
      { decision: 'deny', tool: 'read_file', pattern: '.env' },
    ]
    const { retinue, model } = await bench(
      {
        root: [
          write('docs/a.md'),
          { calls: [{ read_file: { path: '.env' } }] },
          { expect: 'Not allowed: rule deny read_file(.env)', ...done },
        ],
      },
      { files: { '.env': 'KEY=1' }, settings: { rules } },
    )
    const { result } = await runToEnd(retinue)
    expect(result.files_changed).toEqual(['docs/a.md'])
    model.assertAllUsed()
  })
})

describe('what an agent may not do', () => {
  it.each([
    [
      'a tool outside its contract',
      { calls: [{ run_command: { command: 'true' } }] },
      'denied',
      { tools: ['read_file'], mode: 'dangerous' },
    ],
    ['a tool that does not exist', { calls: [{ launch_rocket: {} }] }, 'unknown_tool', {}],
    ['a path outside the workspace', write('../evil.txt'), 'invalid_arguments', { mode: 'dangerous' }],
    [
      'a path outside its write paths',
      write('src/a.ts'),
      'denied',
      { write_paths: [['docs']], mode: 'dangerous', tools: ['write_file'] },
    ],
    ["git's own files", write('.git/config'), 'denied', { mode: 'dangerous' }],
    ["Retinue's own files", write('.retinue/x'), 'denied', { mode: 'dangerous' }],
    ['its own configuration', write('retinue.yaml', 'mode: dangerous'), 'denied', { mode: 'dangerous' }],
    ['anything that writes, in plan mode', write('a.txt'), 'denied', { mode: 'plan' }],
    [
      'learning what is in a file it may not read by failing to edit it',
      { calls: [{ edit_file: { path: '.env', old_text: 'K', new_text: 'L' } }] },
      'denied',
      { read_paths: [['src']], mode: 'dangerous', tools: ['edit_file'] },
    ],
  ] as const)('%s is refused and recorded', async (_, step, code, settings) => {
    const { retinue, cwd } = await bench(
      { root: [step as never, done] },
      { files: { '.env': 'SECRET=1\nSECRET=2\n', '.git/config': '[core]\n' }, settings: settings as never },
    )
    const { result, events } = await runToEnd(retinue)
    expect(dataOf(events, 'tool.refused')).toMatchObject([{ code }])
    expect(dataOf(events, 'tool.called')).toEqual([])
    expect(JSON.stringify(events)).not.toContain('SECRET=2')
    expect(result.files_changed).toEqual([])
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe('[core]\n')
  })

  it('a file it may not read does not show up in a search either', async () => {
    const rules: Rule[] = [{ decision: 'deny', tool: 'read_file', pattern: '.env' }]
    const { retinue, model } = await bench(
      {
        root: [
          { calls: [{ search_files: { pattern: 'SECRET' } }] },
          { expect: { contains: 'a.txt', excludes: 'SECRET=1' }, ...done },
        ],
      },
      { files: { '.env': 'SECRET=1\n', 'a.txt': 'no SECRET here\n' }, settings: { rules } },
    )
    await runToEnd(retinue)
    model.assertAllUsed()
  })

  it.each([
    ['a search in it', { search_files: { pattern: 'SECRET', path: '.env' } }],
    [
      'the nearest lines of an edit that does not apply',
      { edit_file: { path: '.env', old_text: 'SECRET=3', new_text: '' } },
    ],
    ['a diff of it', { git_diff: { paths: ['.env'] } }],
    ['a diff of everything', { git_diff: {} }],
    ['a diff of its blob', { git_diff: { ref: BLOB, paths: ['a.txt'] } }],
  ])('a file it may not read does not show in %s', async (_, call) => {
    const rules: Rule[] = [{ decision: 'deny', tool: 'read_file', pattern: '.env' }]
    const { retinue, cwd } = await bench(
      { root: [{ calls: [call] }, done] },
      { files: { '.env': 'SECRET=1\n', 'a.txt': 'a\n' }, settings: { rules }, git: true },
    )
    writeFileSync(join(cwd, '.env'), 'SECRET=2\n')
    writeFileSync(join(cwd, 'a.txt'), 'b\n')
    const { events } = await runToEnd(retinue)
    const seen = [...dataOf(events, 'tool.finished'), ...dataOf(events, 'tool.refused')].map(({ content }) => content)
    expect(seen.join()).not.toMatch(/SECRET=[12]/)
    if (JSON.stringify(call) === '{"git_diff":{}}') expect(seen.join()).toContain('+b')
  })

  it.each(['/bin/rm x', 'sh -c "rm x"', 'env rm x', 'true; rm x'])(
    'a command that is denied is denied as %s too',
    async (line) => {
      const rules: Rule[] = [{ decision: 'deny', tool: 'run_command', pattern: 'rm *' }]
      const { retinue, cwd } = await bench(
        { root: [command(line), done] },
        { files: { x: '' }, settings: { mode: 'dangerous', rules } },
      )
      await runToEnd(retinue)
      expect(existsSync(join(cwd, 'x'))).toBe(true)
    },
  )

  it('a place other than the one it was asked about, when that was exchanged in the meantime', async () => {
    const { retinue, cwd } = await bench(
      { root: [write('docs/hook'), done] },
      { files: { 'docs/a': '', '.git/config': '' }, settings: { sandbox: 'off', write_paths: [['docs']] } },
    )
    const swapping: Person = {
      permit: async () => {
        renameSync(join(cwd, 'docs'), join(cwd, 'old'))
        symlinkSync('.git', join(cwd, 'docs'))
        return { answer: 'allow', grant: null, by: 'tester', note: null }
      },
      answer: async () => null,
    }
    await runToEnd(retinue, { person: swapping })
    expect(existsSync(join(cwd, '.git/hook'))).toBe(false)
  })

  it('commands, with paths that could not hold them', async () => {
    const { retinue } = await bench(
      { root: [] },
      { settings: { sandbox: 'off', write_paths: [['docs']], mode: 'dangerous' } },
    )
    await expect(retinue.run({ task: 'x' }).result()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('cannot be enforced on commands'),
    })
  })

  it('a contract that makes no sense is not signed', async () => {
    for (const settings of [
      { write_paths: [] },
      { rules: [{ decision: 'deny' as const, tool: 'Write', pattern: null }] },
    ]) {
      const { retinue } = await bench({ root: [] }, { settings })
      await expect(retinue.run({ task: 'x' }).result()).rejects.toMatchObject({ code: 'input' })
      expect(await retinue.runs()).toEqual([])
    }
    await expect(bench({ root: [] }, { settings: { budget: { turns: 1.5 } } })).rejects.toMatchObject({ code: 'input' })
  })

  it('tools that could only be refused are not offered in the first place', async () => {
    const { retinue, model } = await bench({ root: [done] })
    await runToEnd(retinue, { mode: 'plan' })
    const offered = model.requests[0]?.request.tools.map(({ name }) => name)
    expect(offered).toContain('read_file')
    for (const name of ['write_file', 'edit_file', 'run_command', 'git_commit', 'ask_user'])
      expect(offered).not.toContain(name)
  })
})

describe('a person whose face is not well made', () => {
  it.each([
    ['a word', async () => 'no'],
    ['an empty object', async () => ({})],
    ['something else', async () => ({ answer: 'yes' })],
    ['an error', async () => Promise.reject(new Error('boom'))],
  ])('that answers with %s has not said yes, and the log can be read', async (_, permit) => {
    const { retinue, cwd } = await bench({ root: [write('a.txt'), done] })
    const somebody = { permit, answer: async () => null } as unknown as Person
    const { events } = await runToEnd(retinue, { person: somebody })
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    for (const { type, version, at, data } of events) expect(parseEvent(type, version, at, data).ok).toBe(true)
  })

  it('that says only allow has said yes, once', async () => {
    const { retinue } = await bench({ root: [write('a.txt'), done] })
    const somebody = { permit: async () => ({ answer: 'allow' }), answer: async () => null } as unknown as Person
    const { result, events } = await runToEnd(retinue, { person: somebody })
    expect(result.files_changed).toEqual(['a.txt'])
    expect(dataOf(events, 'permission.answered')).toEqual([
      { call_id: 'c1', answer: 'allow', grant: null, by: 'person', note: null },
    ])
  })

  it('that never answers does not keep a run from being cancelled', async () => {
    const { retinue } = await bench({ root: [write('a.txt'), done] })
    const silent: Person = { permit: () => new Promise(() => {}), answer: () => new Promise(() => {}) }
    const run = retinue.run({ task: 'x', person: silent })
    for await (const event of run) if (event.type === 'permission.asked') run.cancel('enough')
    expect((await run.result()).outcome).toBe('cancelled')
  })
})

describe('ask_user', () => {
  it('reaches the person and brings the answer back', async () => {
    const { retinue, model } = await bench({
      root: [{ calls: [{ ask_user: { question: 'Tabs?', options: ['yes', 'no'] } }] }, { expect: 'no', ...done }],
    })
    const { result } = await runToEnd(retinue, { person: person('allow') })
    expect(result.outcome).toBe('completed')
    model.assertAllUsed()
  })
})
