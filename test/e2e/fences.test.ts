import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createHost,
  createMemoryStore,
  createRetinue,
  type Person,
  parseRule,
  type Question,
  type Settings,
} from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { bench, dataOf, runToEnd } from '../support/bench.js'
import { makeProject, tree } from '../support/project.js'
import { describeSandboxed } from '../support/sandbox.js'

const command = (line: string) => ({ calls: [{ run_command: { command: line } }] })
const script = (...lines: string[]) => ({ root: [...lines.map(command), { text: 'Done.' }] })

describeSandboxed('commands of an agent', () => {
  it('write in the folder, and nowhere else', async () => {
    const outside = makeProject({})
    const lines = ['echo in > inside.txt', `echo out > ${outside}/outside.txt`, 'echo x > .git/hooks/pre-commit']
    const { retinue, cwd } = await bench(script(...lines), { git: true, settings: { mode: 'auto' } })
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'tool.finished').map(({ status }) => status)).toEqual(['ok', 'error', 'error'])
    expect(readFileSync(join(cwd, 'inside.txt'), 'utf8')).toBe('in\n')
    expect(existsSync(join(outside, 'outside.txt'))).toBe(false)
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
    expect(dataOf(events, 'run.created')).toMatchObject([{ sandbox: { kind: 'bubblewrap' } }])
  })

  it('keep to write_paths and do not see what may not be read', async () => {
    const settings: Settings = {
      mode: 'auto',
      write_paths: [['docs/**']],
      rules: [{ decision: 'deny', tool: 'read_file', pattern: '**/.env' }],
    }
    const files = { 'docs/a.md': 'a', 'src/b.ts': 'b', '.env': 'KEY=canary', 'sub/.env': 'KEY=canary' }
    const lines = ['echo 1 > docs/new.md', 'echo 1 > src/new.ts', 'cat .env sub/.env']
    const { retinue, cwd } = await bench(script(...lines), { files, settings })
    const { events } = await runToEnd(retinue)
    const results = dataOf(events, 'tool.finished')
    expect(results.map(({ status }) => status)).toEqual(['ok', 'error', 'error'])
    expect(results[2]?.content).not.toContain('canary')
    expect(existsSync(join(cwd, 'src/new.ts'))).toBe(false)
  })

  it.each([
    ['tools', 'error'],
    ['all', 'ok'],
  ] as const)('with network: %s, a request ends with %s', async (network, status) => {
    const server = createServer((_, response) => response.end('reached'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const line = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`
    const { retinue } = await bench(script(line), { settings: { mode: 'dangerous' } })
    const { events } = await runToEnd(retinue, { network })
    expect(dataOf(events, 'tool.finished')).toMatchObject([{ status }])
  })

  it.each(['read_*(secrets/**)', '*(secrets/**)', 'read_file(secrets/**)'])(
    'do not see what %s keeps from tools',
    async (text) => {
      const rule = parseRule('deny', text)
      if (!rule.ok) throw new Error(rule.message)
      const { retinue } = await bench(script('cat secrets/a.txt', 'echo still here'), {
        files: { 'secrets/a.txt': 'canary' },
        settings: { mode: 'auto', rules: [rule.rule] },
      })
      const { events } = await runToEnd(retinue)
      expect(JSON.stringify(events)).not.toContain('canary')
      expect(dataOf(events, 'tool.finished').at(-1)).toMatchObject({ status: 'ok' })
    },
  )

  it('do not write what rules keep from tools', async () => {
    const rule = { decision: 'deny' as const, tool: 'write_file', pattern: 'migrations/**' }
    const lines = ['echo evil > migrations/1.sql', 'echo evil > migrations/2.sql', 'echo fine > other.txt']
    const { retinue, cwd } = await bench(script(...lines), {
      files: { 'migrations/1.sql': 'good\n' },
      settings: { mode: 'auto', rules: [rule] },
    })
    await runToEnd(retinue)
    expect(tree(cwd)).toEqual({ 'migrations/1.sql': 'good\n', 'other.txt': 'fine\n' })
  })

  it('run without a question in auto mode, and with one in normal mode', async () => {
    const asked: Question[] = []
    const person: Person = {
      permit: async (question) => {
        asked.push(question)
        return { answer: 'allow', grant: null, by: 'person', note: null }
      },
      answer: async () => null,
    }
    for (const mode of ['auto', 'normal'] as const) {
      const { retinue } = await bench(script('echo hello'), { settings: { mode } })
      await runToEnd(retinue, { person })
    }
    expect(asked).toMatchObject([{ reason: 'commands ask in normal mode', call: { sandboxed: true } }])
  })
})

describe('without a sandbox', () => {
  const settings: Settings = {
    mode: 'auto',
    sandbox: 'off',
    rules: [{ decision: 'allow', tool: 'run_command', pattern: null }],
  }

  it('no rule is enough: a person is asked about exactly that', async () => {
    const asked: Question[] = []
    const person: Person = {
      permit: async (question) => {
        asked.push(question)
        const answer = question.summary.includes('yes') ? 'allow' : 'deny'
        return { answer, grant: null, by: 'person', note: null }
      },
      answer: async () => null,
    }
    const { retinue, cwd } = await bench(script('touch yes', 'touch no'), { settings })
    const { events } = await runToEnd(retinue, { person })
    expect(asked.map(({ reason }) => reason)).toEqual(
      Array(2).fill('there is no sandbox here: it would run with all the rights you have'),
    )
    expect([existsSync(join(cwd, 'yes')), existsSync(join(cwd, 'no'))]).toEqual([true, false])
    expect(dataOf(events, 'run.created')).toMatchObject([{ sandbox: { kind: 'none' } }])
  })

  it('a yes is for this once, however it is meant', async () => {
    let asked = 0
    const person: Person = {
      permit: async ({ grant }) => {
        asked++
        expect(grant).toBe(null)
        return {
          answer: 'allow',
          grant: { decision: 'allow', tool: 'run_command', pattern: null },
          by: 'person',
          note: null,
        }
      },
      answer: async () => null,
    }
    const { retinue } = await bench(script('touch one', 'touch two'), { settings })
    await runToEnd(retinue, { person })
    expect(asked).toBe(2)
  })

  it('nobody to ask means no', async () => {
    const { retinue, cwd } = await bench(script('touch marker'), { settings })
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'tool.refused')).toMatchObject([{ code: 'denied', rule: 'sandbox' }])
    expect(existsSync(join(cwd, 'marker'))).toBe(false)
  })

  it('dangerous mode runs it, and the log says what stood around it', async () => {
    const { retinue, cwd } = await bench(script('touch marker'), { settings: { mode: 'dangerous', sandbox: 'off' } })
    const { events } = await runToEnd(retinue)
    expect(existsSync(join(cwd, 'marker'))).toBe(true)
    expect(dataOf(events, 'run.created')[0]?.sandbox.reason).toContain('turned off')
  })

  it.each([
    [{ mode: 'auto', network: 'none' }, /network: none cannot be enforced/],
    [{ mode: 'dangerous', network: 'tools' }, /network: tools cannot be enforced/],
    [{ mode: 'dangerous', write_paths: [['docs/**']] }, /write_paths cannot be enforced/],
  ] as const)('a contract that needs one is refused: %j', async (asked, message) => {
    const { retinue, model } = await bench(script('true'), { settings: { sandbox: 'off', ...(asked as Settings) } })
    await expect(runToEnd(retinue)).rejects.toThrow(message)
    expect(model.requests).toHaveLength(0)
  })

  it('a run that began with one does not go on under a contract that needs it', async () => {
    const cwd = makeProject({})
    const store = createMemoryStore({ clock: { now: () => Date.now() } })
    const held = createScriptedModel({ name: 'test', agents: { root: [{ text: 'late', delay_ms: 60_000 }] } })
    const open = (sandbox: 'on' | 'off') =>
      createRetinue({
        cwd,
        store,
        models: modelsOf(held),
        settings: { mode: 'dangerous', write_paths: [['docs/**']], sandbox },
      })
    const run = (await open('on')).run({ task: 'Wait' })
    for await (const { type } of run) {
      if (type !== 'model.requested') continue
      run.leave('later')
      break
    }
    await expect(run.result()).rejects.toMatchObject({ code: 'abandoned' })
    const unfenced = await open('off')
    await expect(unfenced.resume(run.run_id).result()).rejects.toThrow(/write_paths cannot be enforced/)
    expect(await unfenced.cancel(run.run_id, 'person', 'then not')).toMatchObject({ outcome: 'cancelled' })
  })

  it('a host that has none is as good as a setting', async () => {
    const host = createHost()
    const none = { kind: 'none' as const, reason: 'bubblewrap is not installed' }
    const cwd = makeProject({})
    mkdirSync(join(cwd, 'sub'))
    writeFileSync(join(cwd, 'sub/a.txt'), 'a')
    const model = createScriptedModel({ name: 'test', agents: script('touch marker') })
    const retinue = await createRetinue({
      cwd,
      store: createMemoryStore({ clock: { now: () => Date.now() } }),
      models: modelsOf(model),
      host: { ...host, facts: async () => ({ ...(await host.facts()), sandbox: none }) },
      settings: { mode: 'auto' },
    })
    onTestFinished(() => retinue.close())
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'tool.refused')).toMatchObject([
      { code: 'denied', content: expect.stringContaining('there is no sandbox here') },
    ])
    expect(dataOf(events, 'run.created')).toMatchObject([{ sandbox: none }])
  })
})
