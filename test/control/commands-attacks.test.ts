import { describe, expect, it, onTestFinished } from 'vitest'
import { createCatalog } from '../../src/control/index.js'
import { commandsIn, type RegistryEntry } from '../../src/domain/index.js'
import { createControl } from '../../src/library/control-plane.js'
import { RetinueError } from '../../src/library/errors.js'
import { openPlace, recordsOf, SECRET, WRITER } from './commands-place.js'

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
