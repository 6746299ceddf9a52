import { describe, expect, it, onTestFinished } from 'vitest'
import { commandsIn, PIN_SCOPES, type PinScope, PRINCIPAL_ROLES, type PrincipalRole } from '../../src/domain/index.js'
import type { Control } from '../../src/library/api.js'
import { RetinueError } from '../../src/library/errors.js'
import type { Store } from '../../src/store/index.js'
import { openPlace, ROLES, recordsOf } from './commands-place.js'

/** The session of each, so that what is denied is denied for the role alone. */
const OWN = { viewer: 'veras', operator: 'olgas', admin: 'adas' } as const
const WORKSPACE = 'profile-pin:workspace:ff0a01d53d837e70'

const PIN_IDS = (role: PrincipalRole): Record<PinScope, string> => ({
  session: `profile-pin:session:${OWN[role]}`,
  user: `profile-pin:user:${ROLES[role]}`,
  workspace: WORKSPACE,
  global: 'profile-pin:global',
})

const WRITER = { agentId: '@writer', profileId: 'docs', description: 'Writes docs.' }

/** An agent, a pin of each scope, a profile that nothing points at. Written to the store itself: its log stays empty. */
async function furnish(store: Store, role: PrincipalRole): Promise<void> {
  const put = async (type: string, id: string, value: unknown) => {
    const result = await store.putRecord({ type, id, value, by: 'setup', expected_version: 0 })
    expect(result.ok).toBe(true)
  }
  await put('policy', 'agent-registry:default', { version: 1, agents: [WRITER] })
  for (const id of Object.values(PIN_IDS(role))) await put('policy', id, { profileId: 'review' })
  await put('policy', 'profile-pin:session:nobodys', { profileId: 'review' })
  await put('profile', 'spare', { description: 'Spare.' })
}

type Case = {
  name: string
  /** As a line, as a call, or both: they come to the same. */
  line?: (session: string) => string
  call: (control: Control, session_id: string) => Promise<unknown>
  command: string
  given: string
  /** What a viewer is told; the role that is needed. */
  least: PrincipalRole
  what?: string
  said: string
  /** Where it is asked, if not in a session of one's own. */
  session?: string
}

const SAID: Record<PinScope, string> = {
  session: 'for this session',
  user: 'for you',
  workspace: 'for this workspace',
  global: 'for everybody (global)',
}

const LEAST: Record<PinScope, PrincipalRole> = {
  session: 'viewer',
  user: 'viewer',
  workspace: 'operator',
  global: 'operator',
}

const CASES: Case[] = [
  {
    name: 'agents',
    line: () => '/agents',
    call: (control, session_id) => control.agents({ session_id }),
    ...{ command: 'agents', given: '', least: 'viewer', said: '1 agent, 4 profiles.' },
  },
  {
    name: 'agents show',
    line: () => '/agents show @writer',
    call: (control) => control.show('@writer'),
    ...{ command: 'agents show', given: '@writer', least: 'viewer', said: '@writer was shown.' },
  },
  {
    name: 'agents register',
    line: () => '/agents register @new | docs | New.',
    call: (control) => control.register({ agentId: '@new', profileId: 'docs', description: 'New.' }),
    ...{ command: 'agents register', given: '@new | docs | New.', least: 'operator' },
    said: '@new is registered for the profile docs.',
  },
  {
    name: 'agents unregister',
    line: () => '/agents unregister @writer',
    call: (control) => control.unregister('@writer'),
    ...{
      command: 'agents unregister',
      given: '@writer',
      least: 'operator',
      said: '@writer is not registered any more.',
    },
  },
  ...PIN_SCOPES.flatMap((scope): Case[] => [
    {
      name: `agents pin --${scope}`,
      line: () => `/agents pin @writer --${scope}`,
      call: (control, session_id) => control.pin('@writer', scope, { session_id }),
      ...{ command: 'agents pin', given: `@writer --${scope}`, least: LEAST[scope], what: `agents pin --${scope}` },
      said: `The profile docs (@writer) is pinned ${SAID[scope]}.`,
    },
    {
      name: `agents unpin --${scope}`,
      line: () => `/agents unpin --${scope}`,
      call: (control, session_id) => control.unpin(scope, { session_id }),
      ...{ command: 'agents unpin', given: `--${scope}`, least: LEAST[scope], what: `agents unpin --${scope}` },
      said: `The pin to review ${SAID[scope]} is removed.`,
    },
  ]),
  {
    name: 'help',
    line: () => '/help',
    call: (control) => control.execute('/help'),
    ...{ command: 'help', given: '', least: 'viewer', said: '7 commands.' },
  },
  {
    name: 'registry',
    call: (control) => control.registry(),
    ...{ command: 'agents registry', given: '', least: 'viewer', said: '1 agent, version 1 of the registry.' },
  },
  {
    name: 'history',
    call: (control) => control.history(),
    ...{ command: 'agents history', given: '', least: 'viewer', said: 'The registry had 1 version.' },
  },
  {
    name: 'putRegistry',
    call: (control) => control.putRegistry({ version: 1, agents: [] }, 1),
    ...{ command: 'agents registry put', given: '--expect 1', least: 'operator' },
    said: 'The registry has version 2 and 0 agents.',
  },
  {
    name: 'putProfile',
    call: (control) => control.putProfile('mine', { tools: [] }, 0),
    ...{ command: 'agents put', given: 'mine --expect 0', least: 'operator' },
    said: 'The profile mine is in the store, with version 1.',
  },
  {
    name: 'removeProfile',
    call: (control) => control.removeProfile('spare'),
    ...{
      command: 'agents remove',
      given: 'spare',
      least: 'operator',
      said: 'The profile spare is no longer in the store.',
    },
  },
  {
    name: 'log',
    call: (control) => control.log({ last: 3 }),
    ...{ command: 'audit', given: '--last 3', least: 'operator', said: '0 events.' },
  },
]

/** The others have a request in the log before they are done. */
const LOOKS = ['agents', 'agents show', 'help', 'agents registry', 'agents history', 'audit']

const order = (role: PrincipalRole) => PRINCIPAL_ROLES.indexOf(role)

describe.each(PRINCIPAL_ROLES)('as %s', (role) => {
  const session = OWN[role]

  it.each(CASES.map((one) => [one.name, one] as const))(
    '%s',
    async (_, { call, line, command, given, least, what = command, said }) => {
      const allowed = order(role) >= order(least)
      const denied = (of: string) => `Denied: ${of} needs the role ${least} or more, and ${ROLES[role]} is ${role}.`
      const events = (message: string, session_id: string | null) => {
        const request_id = allowed && !LOOKS.includes(command) ? 'q1' : null
        const asked = { request_id, command, arguments: given, principal: ROLES[role], role, session_id }
        const result = { ...asked, message, outcome: allowed ? 'success' : 'denied' }
        const stored = { version: 1, at: expect.any(Number), digest: expect.stringMatching(/^[0-9a-f]{64}$/) }
        const all = [
          ...(request_id === null ? [] : [{ ...stored, type: 'control.command_requested', data: asked }]),
          { ...stored, type: 'control.command_executed', data: result },
        ]
        return all.map((event, i) => ({ ...event, position: i + 1 }))
      }

      const called = await openPlace(onTestFinished)
      await furnish(called.store, role)
      const before = await recordsOf(called.store)
      const result = await call(called.as(role), session).then(
        () => null,
        (error: unknown) => error,
      )
      if (allowed) expect(result).toBeNull()
      else expect(result).toEqual(new RetinueError('denied', denied(what)))
      const in_session = /^agents(?: pin| unpin)?$/.test(command) ? session : null
      expect(await called.store.readControl()).toEqual(events(allowed ? said : denied(what), in_session))
      const after = await recordsOf(called.store)
      if (!allowed) expect(after).toEqual(before)

      if (line) {
        const typed = await openPlace(onTestFinished)
        await furnish(typed.store, role)
        const answer = await typed.as(role).execute(line(session), { session_id: session })
        const of = /pin/.test(command) ? `/${command} ${given}` : `/${command}`
        expect(answer.outcome).toBe(allowed ? 'success' : 'denied')
        if (!allowed) expect(answer.text).toBe(denied(of))
        expect(await typed.store.readControl()).toEqual(events(allowed ? said : denied(of), session))
        // However it was asked for, it comes to the same.
        expect(await recordsOf(typed.store)).toEqual(after)
      }
    },
  )

  it.each(['pin', 'unpin'] as const)('%s in a session of nobody, or of somebody else', async (what) => {
    const { store, as } = await openPlace(onTestFinished)
    await furnish(store, role)
    const before = await recordsOf(store)
    const control = as(role)
    const answers = []
    for (const session_id of ['nobodys', role === 'operator' ? 'adas' : 'olgas']) {
      const line = what === 'pin' ? '/agents pin docs' : '/agents unpin'
      answers.push((await control.execute(line, { session_id })).text)
    }
    if (role === 'viewer') {
      expect(answers).toEqual([
        'Denied: the session nobodys is not one of vera, who is viewer.',
        'Denied: the session olgas is not one of vera, who is viewer.',
      ])
      expect(await recordsOf(store)).toEqual(before)
      expect(commandsIn(await store.readControl()).map(({ outcome }) => outcome)).toEqual(['denied', 'denied'])
    } else {
      expect(answers).toEqual(
        what === 'pin'
          ? ['The profile docs is pinned for this session.', 'The profile docs is pinned for this session.']
          : ['The pin to review for this session is removed.', 'Nothing is pinned for this session.'],
      )
    }
  })
})

it('a viewer sees the pins that could hold for them, others see all', async () => {
  const { store, as } = await openPlace(onTestFinished)
  const away = `workspace:${'0'.repeat(16)}`
  for (const id of ['session:veras', 'session:olgas', 'user:vera', 'user:olga', away, 'global']) {
    const value = { profileId: 'docs' }
    await store.putRecord({ type: 'policy', id: `profile-pin:${id}`, value, by: 'setup', expected_version: 0 })
  }
  const seen = async (role: PrincipalRole, session_id?: string) => {
    const view = await as(role).agents(session_id === undefined ? {} : { session_id })
    return {
      pins: view.pins.map(({ record_id }) => record_id.slice(12)),
      in_effect: view.in_effect?.record_id.slice(12),
    }
  }
  expect(await seen('viewer', 'veras')).toEqual({
    pins: ['session:veras', 'user:vera', 'global'],
    in_effect: 'session:veras',
  })
  expect(await seen('viewer', 'olgas')).toEqual({ pins: ['user:vera', 'global'], in_effect: 'user:vera' })
  expect(await seen('viewer')).toEqual({ pins: ['user:vera', 'global'], in_effect: 'user:vera' })
  expect(await seen('admin')).toEqual({
    pins: ['session:olgas', 'session:veras', 'user:olga', 'user:vera', away, 'global'],
    in_effect: 'global',
  })
})
