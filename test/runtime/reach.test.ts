import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { discoverSkills } from '../../src/control/index.js'
import {
  createHost,
  createMemoryStore,
  createRetinue,
  type RetinueOptions,
  type RunOptions,
  type Store,
} from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { git, makeProject, tree } from '../support/project.js'
import { BAD_SERVER } from '../tools/mcp/connect.js'

const CANARY = 'canary-3f9c1e77a2b84d50'

async function retinueWith(agents: ScriptedModelOptions['agents'], options: RetinueOptions & { cwd: string }) {
  const model = createScriptedModel({ name: 'test', agents })
  const store = options.store ?? createMemoryStore({ clock: { now: () => Date.now() } })
  const retinue = await createRetinue({ env: {}, ...options, store, models: modelsOf(model) })
  onTestFinished(() => retinue.close())
  return { retinue, model }
}

describe('what there is and may not be used', () => {
  it.each([
    ['all', {}, 'tool.finished'],
    ['not among those allowed', { mcp_servers: ['other'] }, 'tool.refused'],
    ['none allowed', { mcp_servers: [] }, 'tool.refused'],
    ['left out by its tools', { mcp_tools: [['mcp__other__*']] }, 'tool.refused'],
  ])('a server: %s', async (_, allowed, type) => {
    const settings = { command: process.execPath, args: [BAD_SERVER, 'plain'] }
    const { retinue, model } = await retinueWith(
      { root: [{ calls: [{ mcp__here__ok: {} }] }, { text: 'Done.' }] },
      {
        cwd: makeProject({}),
        reach: { servers: [{ name: 'here', settings, trusted: true }] },
        settings: { mode: 'dangerous', ...allowed },
      },
    )
    const { events } = await runToEnd(retinue)
    expect(events.filter((event) => /^tool\.(finished|refused)$/.test(event.type)).map((e) => e.type)).toEqual([type])
    const offered = model.requests[0]?.request.tools.some(({ name }) => name === 'mcp__here__ok')
    expect(offered).toBe(type === 'tool.finished')
  })

  it.each([
    [undefined, 'tool.finished'],
    [['other'], 'tool.refused'],
    [[], 'tool.refused'],
  ])('a skill, where %j are allowed', async (skills, type) => {
    const skill = '---\nname: brew\ndescription: How to brew tea\n---\nBoil the water first.\n'
    const cwd = makeProject({ '.agents/skills/brew/SKILL.md': skill })
    const found = await discoverSkills(createHost(), { project_dir: cwd, home: cwd, config_home: cwd })
    const { retinue, model } = await retinueWith(
      { root: [{ calls: [{ load_skill: { name: 'brew' } }] }, { text: 'Done.' }] },
      { cwd, reach: { skills: found.skills }, settings: skills ? { skills } : {} },
    )
    const { events } = await runToEnd(retinue)
    const ends = events.filter((event) => /^tool\.(finished|refused)$/.test(event.type))
    expect(ends.map((event) => event.type)).toEqual([type])
    expect(JSON.stringify(ends).includes('Boil the water first')).toBe(type === 'tool.finished')
    expect(model.requests[0]?.request.system.includes('How to brew tea')).toBe(type === 'tool.finished')
  })
})

describe('settings that name what is not there', () => {
  it('are refused for tools, and said for servers and skills', async () => {
    const cwd = makeProject({})
    const script = { root: [{ text: 'Done.' }] }
    const wrong = await retinueWith(script, { cwd, settings: { tools: ['raed_file', 'list_dir'] } })
    await expect(runToEnd(wrong.retinue)).rejects.toThrow(/unknown tools: raed_file/)
    const { retinue } = await retinueWith(script, { cwd, settings: { mcp_servers: ['githb'], skills: ['nope'] } })
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'run.created')[0]?.notes).toEqual([
      'the settings allow the MCP server githb: there is none',
      'the settings allow the skill nope: there is none',
    ])
  })

  it('do not keep a Retinue from being closed, nor the next run from trying again', async () => {
    let tries = 0
    const reach = async () => {
      if (++tries === 1) throw new Error('the disk is away')
      return {}
    }
    const { retinue } = await retinueWith({ root: [{ text: 'Done.' }] }, { cwd: makeProject({}), reach })
    await expect(runToEnd(retinue)).rejects.toThrow('the disk is away')
    expect((await runToEnd(retinue)).result).toMatchObject({ outcome: 'completed' })
  })
})

describe('a secret', () => {
  it.each([
    [
      'the permissions',
      { settings: { rules: [{ decision: 'deny' as const, tool: 'read_file', pattern: `${CANARY}/**` }] } },
    ],
    ['the paths', { settings: { write_paths: [[`${CANARY}/**`]] } }],
  ])('in %s stops the run before it starts: rules must not change their meaning', async (_, options) => {
    const { retinue, model } = await retinueWith(
      { root: [{ text: 'Done.' }] },
      { cwd: makeProject({}), secrets: [{ name: 'CANARY', value: CANARY }], ...options },
    )
    await expect(runToEnd(retinue)).rejects.toThrow(/The value of CANARY is part of/)
    expect(model.requests).toEqual([])
  })

  const secrets = [{ name: 'CANARY', value: CANARY }]
  /** Parts of it that nobody could take for something else. */
  const parts = Array.from({ length: CANARY.length - 8 }, (_, i) => CANARY.slice(i, i + 8))

  it.each([2000, 2012, 2024, 2036, 2048, 2060, 2072, 2084])(
    'is found where an output is cut through it, at %i',
    async (output_chars) => {
      const cwd = makeProject({ 'long.txt': `${`${'x'.repeat(37)}${CANARY}`.repeat(400)}\n` })
      const { retinue } = await retinueWith(
        { root: [{ calls: [{ run_command: { command: 'cat long.txt' } }] }, { text: 'Done.' }] },
        { cwd, secrets, settings: { mode: 'dangerous', limits: { output_chars } } },
      )
      const { events } = await runToEnd(retinue)
      const [finished] = dataOf(events, 'tool.finished')
      expect(finished?.content).toContain('[secret CANARY]')
      expect(parts.filter((part) => finished?.content.includes(part))).toEqual([])
    },
  )

  it('that was none when a session began is none of its history now', async () => {
    const cwd = makeProject({ 'a.txt': CANARY })
    const store: Store = createMemoryStore({ clock: { now: () => Date.now() } })
    const read = { root: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Done.' }] }
    const before = await retinueWith(read, { cwd, store })
    const { result } = await runToEnd(before.retinue)
    expect(JSON.stringify(before.model.requests)).toContain(CANARY)
    const after = await retinueWith({ root: [{ text: 'Again.' }] }, { cwd, store, secrets })
    await runToEnd(after.retinue, { session_id: result.session_id })
    expect(JSON.stringify(after.model.requests)).toContain('[secret CANARY]')
    expect(JSON.stringify(after.model.requests)).not.toContain(CANARY)
  })
})

describe('options that a compiler never saw', () => {
  const wrong: [unknown, RegExp][] = [
    [{ stor: 'x' }, /stor/],
    [{ settings: { permissions: { deny: ['read_file'] } } }, /settings: .*permissions/],
    [{ settings: { rules: ['deny read_file'] } }, /settings\.rules\.0/],
    [{ settings: { max_concurrent: 0 } }, /max_concurrent/],
    [{ secrets: ['tok-12345678'] }, /secrets\.0/],
    [{ reach: { mcp_servers: {} } }, /reach/],
  ]
  it.each(wrong)('%j', async (options, message) => {
    const asked = createRetinue({ cwd: makeProject({}), ...(options as RetinueOptions) })
    await expect(asked).rejects.toMatchObject({ code: 'input', message: expect.stringMatching(message) })
  })

  it('of a run', async () => {
    const { retinue } = await retinueWith({ root: [{ text: 'Done.' }] }, { cwd: makeProject({}) })
    const asked = retinue.run({ task: 'x', permissions: { deny: ['read_file'] } } as RunOptions)
    await expect(asked.result()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('permissions'),
    })
  })
})

describe('what a rule keeps from one tool', () => {
  const deny = (tool: string, pattern: string | null) => ({ decision: 'deny' as const, tool, pattern })

  it.each([
    [
      'editing, by write_file',
      deny('write_file', 'src/**'),
      { edit_file: { path: 'src/a', old_text: 'a', new_text: 'b' } },
    ],
    ['committing, by read_file', deny('read_file', '.env'), { git_commit: { message: 'm', paths: ['.env'] } }],
    ['committing all, by read_file', deny('read_file', '.env'), { git_commit: { message: 'm' } }],
    ['testing, by run_command', deny('run_command', 'node *'), { run_tests: {} }],
    ['testing, by run_command at all', deny('run_command', null), { run_tests: {} }],
  ])('no other does: %s', async (_, rule, call) => {
    const files = { 'src/a': 'a', '.env': 'PW=canary', 'package.json': '{"scripts":{"test":"touch tested"}}' }
    const cwd = makeProject(files, { git: true })
    writeFileSync(join(cwd, '.env'), 'PW=canary2')
    const settings = { mode: 'auto' as const, rules: [rule] }
    const reach = { tests: { command: 'node -p 1' } }
    const { retinue } = await retinueWith({ root: [{ calls: [call] }, { text: 'Done.' }] }, { cwd, settings, reach })
    const { events } = await runToEnd(retinue)
    const ends = [
      ...dataOf(events, 'tool.refused').map(() => 'refused'),
      ...dataOf(events, 'tool.finished').map((d) => d.status),
    ]
    expect(ends).toHaveLength(1)
    expect(['refused', 'error']).toContain(ends[0])
    expect(git(cwd, 'log', '--format=%s').trim()).toBe('start')
    expect(tree(cwd)['src/a']).toBe('a')
  })

  it('git_commit does not commit either, where the workspace is a part of the repository', async () => {
    const top = makeProject({ 'part/a.txt': 'a' }, { git: true })
    writeFileSync(join(top, 'part/.env'), 'PW=canary')
    const { retinue } = await retinueWith(
      { root: [{ calls: [{ git_commit: { message: 'm' } }] }, { text: 'Done.' }] },
      { cwd: join(top, 'part'), settings: { mode: 'auto', rules: [deny('read_file', '.env')] } },
    )
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'tool.finished')).toMatchObject([
      { status: 'error', content: expect.stringContaining('.env: you may not read it') },
    ])
    expect(git(top, 'log', '--format=%s').trim()).toBe('start')
  })
})
