import { describe, expect, it, onTestFinished } from 'vitest'
import { createCatalog, defineCommand, isCommandLine, noArguments } from '../../src/control/index.js'
import { createControl } from '../../src/control-plane.js'
import { type AgentRegistry, commandsIn, type RegistryEntry } from '../../src/domain/index.js'
import { RetinueError } from '../../src/errors.js'
import { createRetinue } from '../../src/index.js'
import { makeProject } from '../support/project.js'
import { openPlace, recordsOf, SECRET } from './commands-place.js'

const WRITER: RegistryEntry = { agentId: '@writer', profileId: 'docs', description: 'Writes docs.', tags: ['docs'] }

describe('a line', () => {
  it.each(['/help', '/agents pin @a', '/x', '/agents\tshow x', '/spawn do\nthis', '/agents?'])(
    'is a command: %j',
    (line) => {
      expect(isCommandLine(line)).toBe(true)
    },
  )
  it.each([
    '',
    '/',
    '/ help',
    ' /help',
    'help',
    '//help',
    '/etc/hosts is what?',
    '/1',
    '/-x',
    'what is /help',
    '/usr/',
  ])('is none: %j', (line) => {
    expect(isCommandLine(line)).toBe(false)
  })
})

describe('commands', () => {
  it('list agents, profiles and pins for a terminal of 80 columns', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('admin')
    const torn = {
      ...{ agentId: '@a-handle-that-is-as-long-as-it-c', profileId: 'torn' },
      description: 'Has a description that does not fit into what is left of one line of a terminal of 80 columns.',
    }
    await control.putRegistry({ version: 1, agents: [WRITER, torn] }, 0)
    await control.pin('@writer', 'user')
    await control.pin('review', 'global')
    await control.pin('review', 'workspace')
    const away = `profile-pin:workspace:${'0'.repeat(16)}`
    await store.putRecord({ type: 'policy', id: away, value: { profileId: 'gone' }, by: 'x', expected_version: 0 })
    const { text, outcome } = await control.execute('/agents')
    expect(outcome).toBe('success')
    expect(text).toMatchInlineSnapshot(`
      "Agents
        @a-handle-that-is-as-long-as-it-c
                 Has a description that does not fit into what is left of one line of
                 a terminal of 80 columns. (profile torn) Cannot be used: the profile
                 torn is broken: .retinue/agents/torn.md:3: no such tool.
        @writer  Writes docs. (profile docs; tags docs)

      Profiles
        docs    Writes docs. (role)
        review  Reads and finds faults. (role)
        torn    cannot be used: .retinue/agents/torn.md:3: no such tool

      Pins
        user       docs (@writer) for ada, in effect
        workspace  gone for the workspace 0000000000000000, not in effect here. Cannot
                   be used: there is no profile "gone" any more.
        workspace  review for this workspace, not in effect here
        global     review for everybody (global), not in effect here"
    `)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('say where there is nothing', async () => {
    const { as } = await openPlace(onTestFinished)
    const { text } = await as('viewer').execute('/agents')
    expect(text).toContain(
      'No agents are registered: retinue agents register --help (in a chat: /help agents register) says how.',
    )
    expect(text).toContain('Nothing is pinned.')
  })

  it('show an agent with its profile', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    const budget = { tool_calls: 5, cost_usd: null }
    const profile = {
      ...{ description: 'Stored docs.', system_prompt: 'One.\nTwo.', tools: [], may_spawn: ['review'] },
      budget,
    }
    await control.putProfile('docs', profile, 0)
    await control.register({
      ...WRITER,
      allowedForwardSkills: ['a', 'b'],
      defaultForwardSkills: ['a'],
      allowedMcpServers: [],
    })
    const { text, data } = await control.execute('/agents show @writer')
    expect(text).toMatchInlineSnapshot(`
      "@writer
        description    Writes docs.
        tags           docs
        skills         a unless others are asked for; at most a, b
        MCP servers    none
        profile        docs
        from           the store, version 1
        stands before  Retinue (a role that ships)
        handles        @writer
        good for       Stored docs.
        tools          none
        budget         tool_calls 5, cost_usd unlimited
        sub-agents     review
        prompt         One. Two."
    `)
    expect(data).toEqual(await control.show('@writer'))
    expect((await control.execute('/agents show torn')).text).toMatchInlineSnapshot(`
      "torn
        profile         torn
        from            .retinue/agents/torn.md (the project's agent file)
        cannot be used  .retinue/agents/torn.md:3: no such tool"
    `)
  })

  it('give programs what the methods give', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    const registered = await control.execute('/agents register @writer | docs | Writes docs. | docs,  writing')
    expect(registered).toEqual({
      outcome: 'success',
      text: '@writer is registered for the profile docs.',
      data: { version: 1, value: { version: 1, agents: [{ ...WRITER, tags: ['docs', 'writing'] }] } },
    })
    const again = await control.execute('/agents register @writer | review | Reads.')
    expect(again.text).toBe(
      '@writer is registered for the profile review, in place of the one for "docs". As before: tags.',
    )
    expect((await control.execute('/agents')).data).toEqual(await control.agents())
  })

  it('help with usage and example', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('viewer')
    const { text } = await control.execute('/help')
    expect(text).toMatchInlineSnapshot(`
      "Commands
        /help               lists the commands, or says how one is used
        /agents             lists agents, profiles and pins
        /agents show        says all about an agent or a profile
        /agents register    adds an agent, or replaces the one of that handle
        /agents unregister  removes an agent; its profile stays
        /agents pin         makes it the profile of what is asked from now on
        /agents unpin       removes that choice"
    `)
    expect((await control.execute('/help agents pin')).text).toMatchInlineSnapshot(`
      "/agents pin <@handle|profile> [--session|--user|--workspace|--global]
        makes it the profile of what is asked from now on
        Example: /agents pin @writer --user"
    `)
    expect((await control.execute('/help /agents')).text.match(/Example/g)).toHaveLength(6)
    expect(await control.execute('/help nothing')).toMatchObject({
      outcome: 'failure',
      text: 'There is no command "/nothing": see /help.',
    })
  })

  const PIN = '/agents pin <@handle|profile> [--session|--user|--workspace|--global]'

  it.each([
    ['/agents pin', `Name one handle or profile.\nUsage:   ${PIN}\nExample: /agents pin @writer --user`],
    ['/agents pin a b', `Name one handle or profile.\nUsage:   ${PIN}\nExample: /agents pin @writer --user`],
    [
      '/agents pin @a --user --global',
      `A pin has one scope: name one of them.\nUsage:   ${PIN}\nExample: /agents pin @writer --user`,
    ],
    [
      '/agents pin @a --user --user',
      `A pin has one scope: name one of them.\nUsage:   ${PIN}\nExample: /agents pin @writer --user`,
    ],
    [
      '/agents pin @a --globl',
      `There is no option "--globl": did you mean --global?\nUsage:   ${PIN}\nExample: /agents pin @writer --user`,
    ],
    [
      '/agents unpin @a',
      'Name a scope only.\nUsage:   /agents unpin [--session|--user|--workspace|--global]\nExample: /agents unpin --user',
    ],
    [
      '/agents show',
      'Name one handle or profile.\nUsage:   /agents show <@handle|profile>\nExample: /agents show @writer',
    ],
    [
      '/agents register @a | docs',
      'Give handle, profile and description with | between them, and tags if you like.\n' +
        'Usage:   /agents register <@handle> | <profileId> | <description> [| tag, tag]\n' +
        'Example: /agents register @writer | executor | Writes docs in plain words. | docs, writing',
    ],
    ['/agents --all', 'It takes nothing after its name.\nUsage:   /agents\nExample: /agents'],
    ['/agnets', 'There is no command "/agnets": did you mean /agents? See /help.'],
    ['/frobnicate now', 'There is no command "/frobnicate": see /help.'],
    ['hello', 'This is no command: a command begins with / and a letter. See /help.'],
  ])('that are used wrongly say how it is right: %s', async (line, text) => {
    const { store, as } = await openPlace(onTestFinished)
    expect(await as('admin').execute(line, { session_id: 'adas' })).toEqual({
      ...{ outcome: 'failure', text },
      data: { error: { code: 'input', message: text } },
    })
    const [event, ...more] = await store.readControl()
    expect(more).toEqual([])
    expect(event?.data).toMatchObject({ outcome: 'failure', message: text.replaceAll(/\s+/g, ' ').slice(0, 300) })
  })

  it('of a group that are not there name the nearest, and all of them', async () => {
    const { as } = await openPlace(onTestFinished)
    const { text } = await as('admin').execute('/agents unpni --user')
    expect(text.split('\n')[0]).toBe('There is no "/agents unpni": did you mean /agents unpin?')
    expect(text.split('\n')).toHaveLength(7)
  })

  it('of others are gated, written down and listed in the same way', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const done: string[] = []
    const spawn = defineCommand({
      ...{ name: 'spawn', usage: '/spawn <task>', example: '/spawn look', summary: 'hands out work' },
      least: 'operator',
      parse: (given) => (given === '' ? { ok: false, message: 'Say what is to be done.' } : { ok: true, args: given }),
      async run(task, { principal, session_id }) {
        done.push(`${principal.id} ${session_id} ${task}`)
        return { ok: true, text: 'It works.\nFor \u001b[31mlong.', data: { id: 't1' } }
      },
    })
    const broken = defineCommand({
      ...{ name: 'break', usage: '/break', example: '/break', summary: 'breaks', least: 'viewer', parse: noArguments },
      run: () => Promise.reject(new Error(`disk full at ${SECRET}`)),
    })
    const run = (role: 'viewer' | 'operator', line: string) =>
      as(role).execute(line, { session_id: 'olgas' }, [spawn, broken])
    expect(await run('operator', `/spawn use ${SECRET}\nnow`)).toEqual({
      ...{ outcome: 'success', text: 'It works.\nFor  [31mlong.', data: { id: 't1' } },
    })
    expect(await run('viewer', '/spawn')).toMatchObject({ outcome: 'denied' })
    expect(await run('operator', '/spawn')).toMatchObject({
      text: 'Say what is to be done.\nUsage:   /spawn <task>\nExample: /spawn look',
    })
    expect((await run('viewer', '/help')).text).toContain('/spawn')
    await expect(run('operator', '/break')).rejects.toThrow('disk full')
    expect(done).toEqual([`olga olgas use ${SECRET}\nnow`])
    expect(
      commandsIn(await store.readControl()).map((one) => [one.command, one.arguments, one.outcome, one.message]),
    ).toEqual([
      ['spawn', 'use [secret TOKEN] now', 'success', 'It works.'],
      ['spawn', '', 'denied', 'Denied: /spawn needs the role operator or more, and vera is viewer.'],
      ['spawn', '', 'failure', 'Say what is to be done. Usage: /spawn <task> Example: /spawn look'],
      ['help', '', 'success', '9 commands.'],
      ['break', '', 'failure', 'disk full at [secret TOKEN]'],
    ])
  })
})

describe('an agent that is registered again', () => {
  const LIMITED = { ...WRITER, allowedForwardSkills: ['docs'], defaultMcpServers: [] }

  it('by a line keeps the lists that the line does not name, and it is said', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('operator')
    await control.register(LIMITED)
    expect((await control.execute('/agents register @writer | review | Reads.')).text).toBe(
      '@writer is registered for the profile review, in place of the one for "docs". ' +
        'As before: allowedForwardSkills, defaultMcpServers, tags.',
    )
    const entry = { ...LIMITED, profileId: 'review', description: 'Reads.' }
    expect((await control.registry()).value.agents).toEqual([entry])
    await control.execute('/agents register @writer | review | Reads. | other')
    expect((await control.registry()).value.agents).toEqual([{ ...entry, tags: ['other'] }])
  })

  it('by a program is what the program says, and the log has its lists', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('operator')
    await control.register(LIMITED)
    const { tags: _, ...plain } = WRITER
    expect((await control.register(plain)).value.agents).toEqual([plain])
    expect(commandsIn(await store.readControl()).map((command) => command.arguments)).toEqual([
      '@writer | docs | Writes docs. | tags: docs | allowedForwardSkills: docs | defaultMcpServers: none',
      '@writer | docs | Writes docs.',
    ])
  })

  it('is refused with a profile that is broken, like a pin to it', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await expect(as('operator').register({ ...WRITER, profileId: 'torn' })).rejects.toEqual(
      new RetinueError('input', 'profileId: the profile torn is broken: .retinue/agents/torn.md:3: no such tool.'),
    )
    expect(await recordsOf(store)).toEqual({})
  })
})

describe('two editors', () => {
  it('who register different agents at once lose none of them', async () => {
    const { store, open, as } = await openPlace(onTestFinished)
    const other = await open()
    const handles = Array.from({ length: 50 }, (_, i) => `@agent-${String(i).padStart(2, '0')}`)
    await Promise.all(
      handles.map((agentId, i) => as('operator', i % 2 ? store : other).register({ ...WRITER, agentId })),
    )
    const { value, version } = await as('viewer').registry()
    expect(value.agents.map(({ agentId }) => agentId).sort()).toEqual(handles)
    expect(version).toBe(50)
    const history = await as('viewer', other).history()
    expect(history.map(({ value }) => (value as AgentRegistry).agents.length)).toEqual(handles.map((_, i) => i + 1))
  })

  it('of whom one is faster between the look and the change of the other lose nothing either', async () => {
    const { as, parts, store } = await openPlace(onTestFinished)
    const other = as('operator')
    let looked = false
    const record: typeof store.record = async (type, id) => {
      const seen = await store.record(type, id)
      if (!looked && type === 'policy') {
        looked = true
        await other.register({ ...WRITER, agentId: '@other' })
      }
      return seen
    }
    const records: typeof store = Object.create(store, { record: { value: record } })
    for (const method of ['putRecord', 'appendControl'] as const) {
      Object.defineProperty(records, method, { value: store[method].bind(store) })
    }
    const control = createControl({ ...parts, records, principal: { id: 'ada', role: 'admin' } })
    await control.register(WRITER)
    const { value } = await other.registry()
    expect(value.agents.map(({ agentId }) => agentId)).toEqual(['@other', '@writer'])
  })

  it('who replace all of it do not overwrite each other', async () => {
    const { open, as } = await openPlace(onTestFinished)
    const other = await open()
    const seen = await as('operator').registry()
    await as('admin', other).putRegistry({ version: 1, agents: [WRITER] }, seen.version)
    await expect(as('operator').putRegistry({ version: 1, agents: [] }, seen.version)).rejects.toEqual(
      new RetinueError(
        'conflict',
        'The registry was changed since version 0, it has version 1 now: read it again and make your change there.',
      ),
    )
    expect((await as('viewer').registry()).value.agents).toEqual([WRITER])
  })

  it('who write one profile do not either', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').putProfile('mine', { tools: [] }, 0)
    await expect(as('admin').putProfile('mine', {}, 0)).rejects.toMatchObject({ code: 'conflict' })
    expect(await as('admin').putProfile('mine', { description: 'Second.' }, 1)).toMatchObject({ version: 2, by: 'ada' })
  })
})

describe('profiles of the store', () => {
  it.each<[string, string, unknown, string]>([
    ['a bad name', 'Mine', {}, '"Mine" is no name of a profile: a profile name begins with a lower-case letter'],
    ['a name that leads elsewhere', '../x', {}, '"../x" is no name of a profile'],
    ['a field that there is not', 'mine', { tool: [] }, 'unknown key "tool": did you mean tools?'],
    ['a model and a pool', 'mine', { model: 'a/b', pool: 'c' }, 'pool: a profile has a model or a pool, not both'],
    ['a budget of nothing', 'mine', { budget: { tool_calls: 0 } }, 'budget: tool_calls must be positive'],
    [
      'too long a prompt',
      'mine',
      { system_prompt: 'x'.repeat(200_000) },
      'the profile has 200020 characters: at most 200000',
    ],
    ['no object', 'mine', null, 'Invalid input: expected object, received null'],
    [
      'a secret',
      'mine',
      { system_prompt: `Use ${SECRET}.` },
      'The secret TOKEN is in it, and models would read it: leave it out.',
    ],
  ])('are refused with %s', async (_, name, profile, message) => {
    const { store, as } = await openPlace(onTestFinished)
    const put = as('admin').putProfile(name, profile, 0)
    await expect(put).rejects.toMatchObject({ code: 'input', message: expect.stringContaining(message) })
    expect(await recordsOf(store)).toEqual({})
  })

  it.each([
    ['a key that is nearly one', { descripton: 'x' }, 'unknown key "descripton": did you mean description?'],
    ['hidden characters', { description: 'a\u001b[2Jb' }, 'description: has characters that cannot be seen'],
  ])('are refused with %s', async (_, profile, message) => {
    const { store, as } = await openPlace(onTestFinished)
    await expect(as('admin').putProfile('mine', profile, 0)).rejects.toMatchObject({
      ...{ code: 'input', message: expect.stringContaining(message) },
    })
    expect(await recordsOf(store)).toEqual({})
  })

  it('have a history, which goes on after they are removed', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('mine', { description: 'One.' })
    await control.removeProfile('mine')
    const history = await as('viewer').history('mine')
    expect(history.map(({ version, by, value }) => [version, by, value])).toEqual([
      [1, 'ada', { description: 'One.' }],
      [2, 'ada', null],
    ])
    expect(await control.history('nobody')).toEqual([])
  })

  it('without a version take the place of what is there, also of many at once', async () => {
    const { open, as } = await openPlace(onTestFinished)
    const other = await open()
    const puts = Array.from({ length: 10 }, (_, i) => {
      return (i % 2 ? as('admin') : as('operator', other)).putProfile('mine', { description: `${i}` })
    })
    expect((await Promise.all(puts)).map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      puts.map((_, i) => i + 1),
    )
  })

  it('stand before others of their name, which are there again when they are removed', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('docs', { description: 'Mine.' }, 0)
    await control.pin('docs', 'global')
    expect((await control.show('docs')).profile).toMatchObject({
      ...{ source: { kind: 'store', version: 1 }, shadows: [{ kind: 'role' }], profile: { description: 'Mine.' } },
    })
    await control.removeProfile('docs')
    expect((await control.show('docs')).profile).toMatchObject({ source: { kind: 'role' }, shadows: [] })
    const [removed] = commandsIn(await control.log({ last: 2 }))
    expect(removed?.message).toBe(
      'The profile docs is no longer in the store; docs is now the one from Retinue (a role that ships).',
    )
  })

  it('that something points at stay, and what it is is said', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('mine', {}, 0)
    await control.register({ ...WRITER, profileId: 'mine' })
    await as('viewer').pin('mine', 'user')
    await expect(control.removeProfile('mine')).rejects.toEqual(
      new RetinueError(
        'conflict',
        'The profile mine is in use. First: retinue agents unregister @writer; retinue agents unpin --user --as vera',
      ),
    )
    expect(await store.record('profile', 'mine')).not.toBeNull()
    await control.unregister('@writer')
    await as('viewer').unpin('user')
    await control.removeProfile('mine')
    expect(await store.record('profile', 'mine')).toBeNull()
  })

  it('that are not there are not removed, and where the profile is is said', async () => {
    const { as } = await openPlace(onTestFinished)
    await expect(as('admin').removeProfile('torn')).rejects.toMatchObject({
      code: 'not_found',
      message:
        "There is no profile torn in the store: it comes from .retinue/agents/torn.md (the project's agent file), and is changed there.",
    })
  })
})

describe('the registry', () => {
  it('goes on taking agents when the profile of another is gone', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const gone = { ...WRITER, agentId: '@gone', profileId: 'gone' }
    await store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0 },
      value: { version: 1, agents: [gone] },
    })
    const { value } = await as('operator').register(WRITER)
    expect(value.agents).toEqual([gone, WRITER])
    const { agents } = await as('viewer').agents()
    expect(agents.map(({ fault }) => fault)).toEqual(['there is no profile "gone" any more.', null])
  })

  it('that makes no sense is not written over by a command, and can be replaced', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0, value: { agents: 'all' } },
    })
    await expect(as('admin').register(WRITER)).rejects.toMatchObject({ code: 'corrupt' })
    await expect(as('admin').agents()).rejects.toMatchObject({ code: 'corrupt' })
    expect((await as('admin').putRegistry({ version: 1, agents: [WRITER] }, 1)).version).toBe(2)
  })

  it('that makes no sense stops runs, and is replaced through the front door', async () => {
    const cwd = makeProject({})
    const retinue = await createRetinue({ cwd, env: {} })
    onTestFinished(() => retinue.close())
    await retinue.store.putRecord({
      ...{ type: 'policy', id: 'agent-registry:default', by: 'setup', expected_version: 0, value: { agents: 'all' } },
    })
    await expect(retinue.run({ task: 'Look.', model: 'scripted' }).result()).rejects.toMatchObject({ code: 'corrupt' })
    const agents = [{ ...WRITER, profileId: 'reviewer' }]
    await expect(retinue.control().registry()).rejects.toThrow('--expect 1')
    expect(await retinue.control().putRegistry({ version: 1, agents }, 1)).toEqual({
      ...{ version: 2, value: { version: 1, agents } },
    })
  })

  it('is replaced by the text of its JSON too, with faults where they are', async () => {
    const { as } = await openPlace(onTestFinished)
    const text = JSON.stringify({ version: 1, agents: [WRITER] }, null, 2)
    expect(await as('operator').putRegistry(text, 0)).toEqual({ version: 1, value: { version: 1, agents: [WRITER] } })
    await expect(as('operator').putRegistry(text.replace('"docs"', 'docs'), 1)).rejects.toEqual(
      new RetinueError('input', 'line 6, column 20: this is no JSON: expected a value, found "d"'),
    )
    await expect(as('operator').putRegistry(text.replace('"docs"', '"dosc"'), 1)).rejects.toEqual(
      new RetinueError(
        'input',
        'agents[0].profileId: there is no profile "dosc" (did you mean docs?): retinue agents (in a chat: /agents) lists those that there are',
      ),
    )
    await expect(as('operator').putRegistry(text.replace('Writes docs', SECRET), 1)).rejects.toEqual(
      new RetinueError('input', 'The secret TOKEN is in it, and models would read it: leave it out.'),
    )
  })

  it('keeps every version, with who wrote it', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').register(WRITER)
    await as('admin').unregister('@writer')
    const history = await as('viewer').history()
    expect(history.map(({ version, by, value }) => [version, by, value])).toEqual([
      [1, 'olga', { version: 1, agents: [WRITER] }],
      [2, 'ada', { version: 1, agents: [] }],
    ])
  })

  it('names the nearest of an agent that is not there', async () => {
    const { as } = await openPlace(onTestFinished)
    await as('operator').register(WRITER)
    await expect(as('operator').unregister('@wirter')).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'There is no agent @wirter (did you mean @writer?).' },
    })
  })
})

describe('attacks', () => {
  const long = 'x'.repeat(301)
  it.each([
    ['a handle with a part of an id', '/agents register @a:b | docs | x'],
    ['a handle that climbs', '/agents register @../../x | docs | x'],
    ['a handle of two lines', '/agents register @ab\n@cd | docs | x'],
    ['a handle in another script', '/agents register @wrіter | docs | x'],
    ['a handle with markup', '/agents register @<b> | docs | x'],
    ['a profile with markup', '/agents register @ab | <docs> | x'],
    ['a description of 301 characters', `/agents register @ab | docs | ${long}`],
    ['a description with an escape', '/agents register @ab | docs | a\u001b]0;title\u0007'],
    ['a description with hidden letters', '/agents register @ab | docs | a\u{e0068}\u{e0069}'],
    ['tags with markup', '/agents register @ab | docs | x | <i>, y'],
    ['a fifth part', '/agents register @ab | docs | x | y | z'],
    ['a pin to an id', '/agents pin profile-pin:global --user'],
    ['a pin to the registry', '/agents pin agent-registry:default --user'],
    ['a scope with an id', '/agents pin docs --session:olgas'],
    ['a scope with a value', '/agents pin docs --session=olgas'],
    ['a scope in words', '/agents pin docs session:x:y'],
    ['a second line', '/agents pin docs --user\n/agents pin docs --global'],
    ['a scope of another script', '/agents pin docs --usеr'],
    ['an unpin of the registry', '/agents unpin agent-registry:default'],
    ['a secret in a description', `/agents register @ab | docs | Uses ${SECRET}`],
    ['a secret as a handle', `/agents register @${SECRET} | docs | x`],
    ['a secret as a profile', `/agents show ${SECRET}`],
    ['a secret as the profile of an agent', `/agents register @ab | ${SECRET} | x`],
    ['a secret as an option', `/agents pin docs --${SECRET}`],
    ['a secret as a command', `/${SECRET}`],
  ])('%s changes nothing, is written down, and shows no control characters', async (_, line) => {
    const { store, as } = await openPlace(onTestFinished)
    const { outcome, text, data } = await as('admin').execute(line, { session_id: 'adas' })
    expect(outcome).toBe('failure')
    expect(await recordsOf(store)).toEqual({})
    const log = await store.readControl()
    expect(commandsIn(log).map((command) => command.outcome)).toEqual(['failure'])
    for (const said of [text, JSON.stringify(data), JSON.stringify(log)]) {
      expect(said).not.toMatch(/(?!\n)[\p{Cc}\u{202a}-\u{202e}\u{e0000}-\u{e007f}]/u)
      expect(said).not.toContain(SECRET)
      expect(said).not.toContain(SECRET.slice(0, 12))
    }
  })

  it.each<[string, unknown]>([
    ['a scope that is an id', 'session:x:y'],
    ['a scope that is a key of every object', 'constructor'],
    ['no scope', undefined],
  ])('of programs: %s', async (_, scope) => {
    const { store, as } = await openPlace(onTestFinished)
    const pin = as('admin').pin('docs', scope as 'user', { session_id: 'adas' })
    await expect(pin).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('there are session, user'),
    })
    await expect(as('viewer').unpin(scope as 'user')).rejects.toMatchObject({ code: 'input' })
    expect(await recordsOf(store)).toEqual({})
    expect(commandsIn(await store.readControl()).map(({ outcome }) => outcome)).toEqual(['failure', 'failure'])
  })

  it.each(['x:y', 'adas:z', '../adas', 'ad\nas', '', 'é', 'global\u202e'])(
    'a session called %j',
    async (session_id) => {
      const { store, as } = await openPlace(onTestFinished)
      const message = /is no id of a session: an id of a session begins with a letter or digit/
      await expect(as('admin').pin('docs', 'session', { session_id })).rejects.toMatchObject({
        ...{ code: 'input', message: expect.stringMatching(message) },
      })
      expect((await as('admin').execute('/agents pin docs', { session_id })).text).toMatch(message)
      expect(await recordsOf(store)).toEqual({})
      expect((await store.readControl()).map(({ data }) => data.session_id)).toEqual([null, null])
    },
  )

  it.each([{ tags: [SECRET] }, { allowedForwardSkills: [SECRET] }, { [SECRET]: 1 }])(
    'a secret of a program: %j',
    async (changes) => {
      const { store, as } = await openPlace(onTestFinished)
      await expect(as('admin').register({ ...WRITER, ...changes })).rejects.toEqual(
        new RetinueError('input', 'The secret TOKEN is in it, and models would read it: leave it out.'),
      )
      expect(await recordsOf(store)).toEqual({})
    },
  )

  it('10,000 agents at once are refused with one message', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const agents = Array.from({ length: 10_000 }, (_, i) => ({ ...WRITER, agentId: `@agent-${i}` }))
    await expect(as('admin').putRegistry({ version: 1, agents }, 0)).rejects.toEqual(
      new RetinueError('input', 'agents: there are 10000 agents: a registry has at most 100'),
    )
    expect(await recordsOf(store)).toEqual({})
  })

  it('the hundred and first agent is refused too', async () => {
    const { as } = await openPlace(onTestFinished)
    const agents = Array.from({ length: 100 }, (_, i) => ({ ...WRITER, agentId: `@agent-${i}` }))
    await as('admin').putRegistry({ version: 1, agents }, 0)
    await expect(as('admin').register(WRITER)).rejects.toMatchObject({
      ...{ code: 'input', message: 'agents: there are 101 agents: a registry has at most 100' },
    })
    await as('admin').register({ ...WRITER, agentId: '@agent-7', description: 'In its place.' })
  })

  it('a registry that contains itself, or nothing that JSON has', async () => {
    const { as } = await openPlace(onTestFinished)
    const round: Record<string, unknown> = { version: 1 }
    round.agents = [round]
    await expect(as('admin').putRegistry(round, 0)).rejects.toEqual(
      new RetinueError('input', 'This cannot be written as JSON: it contains itself, or is nested too deeply.'),
    )
    await expect(as('admin').putRegistry(undefined, 0)).rejects.toMatchObject({ code: 'input' })
    await expect(as('admin').register(undefined as unknown as RegistryEntry)).rejects.toMatchObject({ code: 'input' })
  })

  it('what files say about themselves is no command to the terminal', async () => {
    const { parts } = await openPlace(onTestFinished)
    const evil = 'x\u001b[2J\u001b]52;c;aGk=\u0007\u202e\ny'
    const found = {
      ...{ name: 'evil', notes: [evil], kept: { [evil]: 1 }, fault: null },
      source: { kind: 'file', scope: 'project', file: `a/${evil}.md` } as const,
      profile: { description: evil, system_prompt: evil, model: evil, tools: [evil] },
    }
    const torn = { ...found, name: 'torn', profile: null, fault: evil }
    const control = createControl({
      ...{ ...parts, principal: { id: 'ada', role: 'admin' } },
      catalog: async () => createCatalog([found, torn], []),
    })
    for (const line of ['/agents', '/agents show evil', '/agents show torn', '/agents pin torn --user']) {
      const { text } = await control.execute(line)
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\u{202e}]/u)
      // Nor does it begin a line of its own.
      if (line !== '/agents pin torn --user') expect(text).not.toMatch(/^y/m)
    }
  })
})
