import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DELEGATION_TOOLS, type Person, type Settings } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { runToEnd } from '../support/bench.js'
import { retinue as cli } from '../support/cli.js'
import { startLoopback } from '../support/loopback/index.js'
import { git, makeProject } from '../support/project.js'
import { testRetinue, testWorker } from '../support/retinues.js'
import { ON_WORKERS } from '../support/stores.js'
import { BAD_SERVER } from '../tools/mcp/connect.js'
import { ask, contracts, DONE, toolNames, yes } from './asking.js'
import { family, requestsOf, subAgents, toldTo } from './family.js'

describe('seed 002, C6 and C12: permissions and MCP servers', () => {
  const web = { calls: [{ mcp__bad__ok: {} }] }
  /** In auto mode the tools of other programs ask. One that is connected stands here for all that does. */
  async function withServer(agents: Parameters<typeof family>[0], settings: Settings) {
    const cwd = makeProject({})
    const notes = join(cwd, 'notes')
    const server = { command: process.execPath, args: [BAD_SERVER, 'plain', notes] }
    const model = createScriptedModel({ name: 'test', agents })
    const retinue = await testRetinue({
      cwd,
      models: modelsOf(model),
      settings,
      reach: { servers: [{ name: 'bad', settings: server, trusted: true }] },
    })
    return {
      retinue,
      model,
      cwd,
      heard: () =>
        readFileSync(notes, 'utf8')
          .split('\n')
          .filter((line) => line !== ''),
    }
  }

  it.each([
    ['auto', 'auto'],
    ['dangerous', 'dangerous'],
    ['dangerous', 'normal'],
    ['normal', 'normal'],
    ['auto', 'normal'],
  ] as const)('C6: what a mode would ask, of a parent in %s and a sub-agent in %s mode', async (mode, own) => {
    const nobody = `Not allowed: tools of other programs ask in ${mode} mode, and there is nobody to ask.`
    for (const there of [true, false]) {
      const { retinue, model } = await withServer(
        {
          root: [ask({ profile: 'own' }), DONE],
          a1: [web, { expect: mode === 'dangerous' ? 'fine' : nobody, ...DONE }],
        },
        { mode, delegation: { profiles: { own: { mode: own } } } },
      )
      const person = yes()
      const { result } = await runToEnd(retinue, there ? { person } : {})
      expect(result.outcome).toBe('completed')
      // A sub-agent asks nobody, whoever is there.
      expect(person.asked).toEqual([])
      model.assertAllUsed()
    }
  })

  it('C6: a no to the root agent is not undone by a sub-agent', async () => {
    const { retinue, model, heard } = await withServer(
      {
        root: [web, { expect: 'said no', ...ask({}) }, DONE],
        a1: [web, { expect: 'there is nobody to ask', ...DONE }],
      },
      { mode: 'auto' },
    )
    const person: Person = {
      permit: async () => ({ answer: 'deny', grant: null, by: 'tester', note: null }),
      answer: async () => null,
    }
    await runToEnd(retinue, { person })
    expect(heard()).not.toContain('tools/call ok')
    model.assertAllUsed()
  })

  it('C6: what auto mode allows its parent needs no question of a sub-agent in normal mode', async () => {
    const { retinue, model, cwd } = await family(
      {
        root: [ask({ profile: 'careful' }), DONE],
        a1: [{ calls: [{ write_file: { path: 'a.txt', content: 'a' } }] }, { expect: 'a.txt', ...DONE }],
      },
      { settings: { mode: 'auto', delegation: { profiles: { careful: { mode: 'normal' } } } } },
    )
    const { events } = await runToEnd(retinue)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a')
    expect(events.filter(({ type }) => type === 'permission.asked')).toEqual([])
    model.assertAllUsed()
  })

  it('C6: what a rule wants asked is denied to a sub-agent, in every mode', async () => {
    for (const mode of ['normal', 'auto', 'dangerous'] as const) {
      const { retinue, model, cwd } = await family(
        {
          root: [ask({}), DONE],
          a1: [
            { calls: [{ write_file: { path: 'secret.txt', content: 'x' } }] },
            { expect: 'Not allowed: rule ask write_file(secret.txt), and there is nobody to ask.', ...DONE },
          ],
        },
        { settings: { mode, rules: [{ decision: 'ask', tool: 'write_file', pattern: 'secret.txt' }] } },
      )
      const person = yes()
      await runToEnd(retinue, { person })
      expect(person.asked).toEqual([])
      expect(existsSync(join(cwd, 'secret.txt'))).toBe(false)
      model.assertAllUsed()
    }
  })

  it('C6: a command without a sandbox is denied to a sub-agent, where its parent would be asked about it', async () => {
    const touch = { calls: [{ run_command: { command: 'touch made' } }] }
    const { retinue, model, cwd } = await family(
      { root: [ask({}), touch, DONE], a1: [touch, { expect: 'there is no sandbox here', ...DONE }] },
      {
        settings: { mode: 'auto', sandbox: 'off', rules: [{ decision: 'allow', tool: 'run_command', pattern: null }] },
      },
    )
    const person: Person & { asked: string[] } = {
      asked: [],
      permit: async ({ summary }) => {
        person.asked.push(summary)
        expect(existsSync(join(cwd, 'made'))).toBe(false)
        return { answer: 'allow', grant: null, by: 'tester', note: null }
      },
      answer: async () => null,
    }
    const { events } = await runToEnd(retinue, { person })
    expect(person.asked).toEqual(['run touch made'])
    expect(events.filter(({ type }) => type === 'tool.refused').map(({ agent_id }) => agent_id)).toEqual(['a1'])
    expect(existsSync(join(cwd, 'made'))).toBe(true)
    model.assertAllUsed()
  })

  it('C6: ask_user is not among its tools and refused when called; with ask_person its questions reach the person', async () => {
    const question = { calls: [{ ask_user: { question: 'Tea?' } }] }
    const agents = (expected: string) => ({
      root: [ask({ profile: 'curious' }), DONE],
      a1: [question, { calls: [{ write_file: { path: 'a.txt', content: 'a' } }] }, { expect: expected, ...DONE }],
    })
    const profiles = { curious: { tools: ['ask_user', 'write_file'] } }
    const silent = await family(agents('nobody to ask'), { settings: { delegation: { profiles } } })
    const person = yes()
    const { result } = await runToEnd(silent.retinue, { person })
    expect(toolNames((await requestsOf(silent.retinue, result.run_id, 'a1'))[0])).toEqual(['write_file'])
    expect((await toldTo(silent.retinue, result.run_id, 'a1'))[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('Not allowed: '),
    })
    expect((await toldTo(silent.retinue, result.run_id))[0]?.content).toContain(
      'Note: allowed_tools ask_user was not given: it cannot ask a person',
    )
    expect(person.asked).toEqual([])
    silent.model.assertAllUsed()

    const open = await family(agents('a.txt'), { settings: { delegation: { profiles, ask_person: true } } })
    const second = await runToEnd(open.retinue, { person })
    expect(person.asked).toMatchObject([{ agent_id: 'a1', tool: 'write_file' }])
    expect((await toldTo(open.retinue, second.result.run_id, 'a1'))[0]).toMatchObject({
      is_error: false,
      content: 'yes',
    })
    open.model.assertAllUsed()
  })

  it('C6: the mode is inherited or narrowed, never widened', async () => {
    const write = { calls: [{ write_file: { path: 'a.txt', content: 'a' } }] }
    const { retinue, cwd, model } = await family(
      {
        root: [ask({}, { mode: 'plan' }, { profile: 'wild' }), DONE],
        a1: [DONE],
        a2: [write, { expect: 'plan mode changes nothing', ...DONE }],
        a3: [DONE],
      },
      { settings: { mode: 'auto', delegation: { profiles: { wild: { mode: 'dangerous' } } } } },
    )
    const { result } = await runToEnd(retinue)
    expect((await contracts(cwd)).map(({ permissions }) => permissions.mode)).toEqual(['auto', 'plan', 'auto'])
    expect((await toldTo(retinue, result.run_id))[2]?.content).toContain(
      'Note: mode dangerous was not given, auto instead: its parent is in auto mode',
    )
    const names = toolNames((await requestsOf(retinue, result.run_id, 'a2'))[0])
    expect(names).toContain('read_file')
    expect(names).not.toContain('write_file')
    expect(names).not.toContain('run_command')
    model.assertAllUsed()

    const narrow = await family({ root: [ask({ mode: 'auto' }), DONE], a1: [DONE] })
    await runToEnd(narrow.retinue)
    expect((await contracts(narrow.cwd))[0]?.permissions.mode).toBe('normal')
  })

  it('C6: nothing is committed by itself: what a sub-agent changed is left in the folder', async () => {
    const { retinue, cwd } = await family(
      { root: [ask({}), DONE], a1: [{ calls: [{ write_file: { path: 'a.txt', content: 'new\n' } }] }, DONE] },
      { files: { 'a.txt': 'old\n', '.gitignore': '.retinue\n' }, settings: { mode: 'auto' } },
    )
    git(cwd, 'init', '--quiet')
    git(cwd, 'add', '--all')
    git(cwd, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--message', 'start')
    const before = git(cwd, 'for-each-ref')
    await runToEnd(retinue)
    expect(git(cwd, 'for-each-ref')).toBe(before)
    expect(git(cwd, 'rev-list', '--all', '--count').trim()).toBe('1')
    expect(git(cwd, 'status', '--porcelain').trim()).toBe('M a.txt')
  })

  it('C12: parent and sub-agents speak to one process of an MCP server', async () => {
    const { retinue, model, heard } = await withServer(
      {
        root: [web, ask({}, {}, { profile: 'alone' }), web, DONE],
        a1: [web, { expect: 'fine', ...DONE }],
        a2: [web, { expect: 'fine', ...DONE }],
        a3: [web, { expect: 'Not allowed', ...DONE }],
      },
      { mode: 'dangerous', delegation: { profiles: { alone: { mcp_servers: [] } } } },
    )
    const { result } = await runToEnd(retinue)
    // And a run later it is still the same one.
    await retinue.spawn({ task: 'Again', tools: [] })
    // On workers whoever begins the run has looked at the server too, to know what there is.
    const processes = ON_WORKERS ? 2 : 1
    const said = (...words: string[]) => heard().filter((line) => words.includes(line)).length
    expect(said('start')).toBe(processes)
    expect(said('initialize', 'server/discover')).toBeLessThanOrEqual(2 * processes)
    expect(heard().filter((line) => line === 'tools/call ok')).toHaveLength(4)
    const server = (names: string[]) => names.filter((name) => name.startsWith('mcp__bad__')).length
    expect(server(toolNames((await requestsOf(retinue, result.run_id, 'a1'))[0]))).toBe(16)
    expect(server(toolNames((await requestsOf(retinue, result.run_id, 'a3'))[0]))).toBe(0)
    expect(model.unused()).toEqual([])
  })
})

describe('seed 002, C9: without delegation', () => {
  const offered = async (settings: Settings, options = {}) => {
    const { retinue, cwd } = await family({ root: [ask({}), DONE] }, { settings })
    const { result } = await runToEnd(retinue, options)
    const names = toolNames((await requestsOf(retinue, result.run_id, 'root'))[0])
    const [told] = await toldTo(retinue, result.run_id)
    return {
      names: names.filter((name) => DELEGATION_TOOLS.includes(name)),
      told: told?.content,
      agents: (await subAgents(cwd)).length,
    }
  }
  const all = ['spawn', 'spawn_await', 'spawn_agent', 'delegate_task']

  it('C9: the tools are absent in plan mode and when switched off, and refused when called all the same', async () => {
    const none = { names: [], told: 'Not allowed: this agent may not delegate.', agents: 1 }
    expect(await offered({ mode: 'plan' })).toEqual(none)
    expect(await offered({}, { mode: 'plan' })).toEqual(none)
    expect(await offered({ delegation: { enabled: false } })).toEqual(none)
    expect(await offered({}, { delegation: { enabled: false } })).toEqual(none)
    // What is switched off in the settings is not switched on by a run.
    expect(await offered({ delegation: { enabled: false } }, { delegation: { enabled: true } })).toEqual(none)
    for (const mode of ['normal', 'auto', 'dangerous'] as const)
      expect((await offered({ mode })).names.sort()).toEqual([...all].sort())
  })

  it('C9: retinue.yaml and --no-delegation switch them off on the command line', { timeout: 120_000 }, async () => {
    const server = await startLoopback({ protocol: 'chat', steps: [{ text: 'Done.' }] })
    onTestFinished(() => server.close())
    const providers = `providers: {it: {type: openai, api: chat, base_url: '${server.url}', api_key_env: KEY}}\n`
    const home = makeProject({ 'retinue/config.yaml': providers })
    const env = { XDG_CONFIG_HOME: home, KEY: 'k' }
    const last = () => {
      const body = server.requests.at(-1)?.body as { tools: { function: { name: string } }[] } | undefined
      return (body?.tools ?? []).map((tool) => tool.function.name).filter((name) => all.includes(name))
    }
    const run = async (files: Record<string, string>, ...args: string[]) => {
      const cwd = makeProject(files)
      await testWorker(cwd, { env })
      const ended = await cli(['-p', 'Work', '--model', 'it/m', ...args], { cwd, env })
      expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' })
      return last()
    }
    expect((await run({})).sort()).toEqual([...all].sort())
    expect(await run({}, '--no-delegation')).toEqual([])
    expect(await run({}, '--mode', 'plan')).toEqual([])
    expect(await run({ 'retinue.yaml': 'delegation: {enabled: false}\n' })).toEqual([])
  })
})
