import { describe, expect, it, onTestFinished } from 'vitest'
import { defineCommand, isCommandLine, noArguments } from '../../src/control/index.js'
import { commandsIn } from '../../src/domain/index.js'
import { openPlace, SECRET, WRITER } from './commands-place.js'

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
