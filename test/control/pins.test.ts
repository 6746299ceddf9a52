import { describe, expect, it, onTestFinished } from 'vitest'
import { createCatalog, effectivePin, localPrincipalId, principalOf, workspaceId } from '../../src/control/index.js'
import { PIN_SCOPES, type PinPlace, type PrincipalRole, parsePinRecordId, pinRecordId } from '../../src/domain/index.js'
import type { Store } from '../../src/store/index.js'
import { openPlace, PROFILES, recordsOf } from './commands-place.js'

const HERE: PinPlace = { session: 'veras', user: 'vera', workspace: workspaceId('/home/ada/shop') }

/** The names of four profiles, one for each scope: which of them holds says whose pin it was. */
const CATALOG = createCatalog(
  PIN_SCOPES.map((name) => ({ name, source: { kind: 'role' }, notes: [], kept: {}, profile: {}, fault: null })),
  [],
)

async function pinned(store: Store, id: string, value: unknown): Promise<void> {
  const put = await store.putRecord({ type: 'policy', id, value, by: 'setup', expected_version: 0 })
  expect(put.ok).toBe(true)
}

describe('the pin that holds', () => {
  it('is that of the session, then of the user, of the workspace, the global one', async () => {
    const { store } = await openPlace(onTestFinished)
    const holds = async () => {
      const effective = await effectivePin(store, HERE, CATALOG)
      return effective.ok ? (effective.pinned?.profile.name ?? null) : effective.message
    }
    const seen = [await holds()]
    for (const scope of [...PIN_SCOPES].reverse()) {
      await pinned(store, pinRecordId(scope, HERE) as string, { profileId: scope })
      seen.push(await holds())
    }
    expect(seen).toEqual([null, 'global', 'workspace', 'user', 'session'])
    for (const scope of PIN_SCOPES) {
      const id = pinRecordId(scope, HERE) as string
      await store.deleteRecord({ type: 'policy', id, by: 'setup', expected_version: 1 })
      seen.push(await holds())
    }
    expect(seen.slice(5)).toEqual(['user', 'workspace', 'global', null])
  })

  it('is nobody else’s', async () => {
    const { store } = await openPlace(onTestFinished)
    await pinned(store, 'profile-pin:session:olgas', { profileId: 'session' })
    await pinned(store, 'profile-pin:user:olga', { profileId: 'user' })
    await pinned(store, `profile-pin:workspace:${workspaceId('/home/ada/other')}`, { profileId: 'workspace' })
    expect(await effectivePin(store, HERE, CATALOG)).toEqual({ ok: true, pinned: null })
    expect(await effectivePin(store, { ...HERE, session: null }, CATALOG)).toEqual({ ok: true, pinned: null })
  })

  const UNPIN = 'Pin another profile, or remove the pin with: retinue agents unpin'

  it.each([
    [
      'session',
      { profileId: 'gone' },
      `The pin for the session veras to "gone" cannot be used: there is no profile "gone" any more. ${UNPIN} --session veras (in a chat: /agents unpin --session).`,
    ],
    [
      'user',
      { profileId: 'torn' },
      `The pin for vera to "torn" cannot be used: the profile torn is broken: .retinue/agents/torn.md:3: no such tool. ${UNPIN} --user (in a chat: /agents unpin --user).`,
    ],
    [
      'workspace',
      { profile: 'docs' },
      `The pin for this workspace cannot be used: its record in the store makes no sense. ${UNPIN} --workspace (in a chat: /agents unpin --workspace).`,
    ],
    [
      'global',
      { profileId: '@writer' },
      `The pin for everybody (global) to "@writer" cannot be used: there is no profile "@writer" any more. ${UNPIN} --global (in a chat: /agents unpin --global).`,
    ],
  ] as const)('never falls through from %s to a weaker one', async (scope, value, message) => {
    const { store } = await openPlace(onTestFinished)
    for (const weaker of PIN_SCOPES.slice(PIN_SCOPES.indexOf(scope) + 1)) {
      await pinned(store, pinRecordId(weaker, HERE) as string, { profileId: 'docs' })
    }
    await pinned(store, pinRecordId(scope, HERE) as string, value)
    const effective = await effectivePin(store, HERE, createCatalog(PROFILES, []))
    expect(effective).toMatchObject({ ok: false, message, pin: { scope } })
  })
})

describe('pins of the control plane', () => {
  it('by handle and by name store the profile, and are found again', async () => {
    const { store, as, catalog } = await openPlace(onTestFinished)
    const control = as('operator')
    await control.register({ agentId: '@writer', profileId: 'docs', description: 'Writes.' })
    expect(await control.pin('@writer', 'session', { session_id: 'olgas' })).toMatchObject({
      ...{ scope: 'session', record_id: 'profile-pin:session:olgas', profile_id: 'docs', fault: null, by: 'olga' },
    })
    expect(await control.pin('review', 'user')).toMatchObject({ record_id: 'profile-pin:user:olga' })
    expect(await recordsOf(store)).toMatchObject({
      'policy profile-pin:session:olgas': { profileId: 'docs' },
      'policy profile-pin:user:olga': { profileId: 'review' },
    })
    const place = { ...HERE, user: 'olga' }
    const effective = await effectivePin(store, { ...place, session: 'olgas' }, await catalog())
    expect(effective).toMatchObject({ ok: true, pinned: { profile: { name: 'docs' } } })
  })

  it('hold another profile when they are put again, and are gone when they are removed', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('viewer')
    await control.pin('docs', 'user')
    await control.pin('review', 'user')
    expect(await recordsOf(store)).toEqual({ 'policy profile-pin:user:vera': { profileId: 'review' } })
    expect(await control.unpin('user')).toMatchObject({ profile_id: 'review' })
    expect(await recordsOf(store)).toEqual({})
    await expect(control.unpin('user')).rejects.toMatchObject({
      code: 'not_found',
      message: 'Nothing is pinned for you.',
    })
    await control.pin('docs', 'user')
    const history = await store.recordHistory('policy', 'profile-pin:user:vera')
    expect(history.map(({ value }) => value)).toEqual([
      { profileId: 'docs' },
      { profileId: 'review' },
      null,
      { profileId: 'docs' },
    ])
  })

  it('can be removed when the profile is gone: that is when they must be', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await pinned(store, 'profile-pin:user:vera', { profileId: 'gone' })
    await pinned(store, 'profile-pin:session:veras', 'nonsense')
    const control = as('viewer')
    expect((await control.execute('/agents unpin', { session_id: 'veras' })).text).toBe(
      'The pin for this session is removed.',
    )
    expect((await control.execute('/agents unpin --user')).text).toBe('The pin to gone for you is removed.')
    expect(await recordsOf(store)).toEqual({})
  })

  it.each([
    ['nobody', 'not_found', /^Unknown profile "nobody"/],
    ['dosc', 'not_found', /did you mean docs\?/],
    ['@nobody', 'not_found', /^There is no agent @nobody/],
    ['torn', 'not_found', /^The profile torn cannot be used: .*no such tool/],
    ['@a:b', 'not_found', /is no handle/],
  ])('are refused for %s', async (name, code, message) => {
    const { store, as } = await openPlace(onTestFinished)
    await expect(as('admin').pin(name, 'user')).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(await recordsOf(store)).toEqual({})
  })

  it.each([
    [
      'no session',
      undefined,
      'input',
      'There is no session here: name its id, or pin with --user, --workspace or --global.',
    ],
    ['a session that is not there', 'other', 'not_found', 'There is no session other in this store.'],
  ])('of a session need one: %s', async (_, session_id, code, message) => {
    const { as } = await openPlace(onTestFinished)
    const place = session_id === undefined ? {} : { session_id }
    await expect(as('admin').pin('docs', 'session', place)).rejects.toMatchObject({ code, message })
  })

  it('of many at once all come to something, and the last holds', async () => {
    const { store, as } = await openPlace(onTestFinished)
    await Promise.all(Array.from({ length: 10 }, (_, i) => as('viewer').pin(i % 2 ? 'docs' : 'review', 'user')))
    const history = await store.recordHistory('policy', 'profile-pin:user:vera')
    expect(history).toHaveLength(10)
  })
})

describe('ids of pins', () => {
  it('come from parts and lead back to them', () => {
    const ids = PIN_SCOPES.map((scope) =>
      pinRecordId(scope, { session: 's.1', user: 'a@b.c', workspace: HERE.workspace }),
    )
    expect(ids).toEqual([
      'profile-pin:session:s.1',
      'profile-pin:user:a@b.c',
      `profile-pin:workspace:${HERE.workspace}`,
      'profile-pin:global',
    ])
    expect(ids.map((id) => parsePinRecordId(id as string))).toEqual([
      { scope: 'session', of: 's.1' },
      { scope: 'user', of: 'a@b.c' },
      { scope: 'workspace', of: HERE.workspace },
      { scope: 'global', of: null },
    ])
  })

  it.each(['x:y', 'global', '../x', 'a\nb', 'a b', '', 'é', 'x'.repeat(65), ':', '-a', 'a\u202e'])(
    'are made of nothing else: %j',
    (part) => {
      const sound = part === 'global'
      expect(pinRecordId('session', { ...HERE, session: part })).toBe(sound ? 'profile-pin:session:global' : null)
      expect(pinRecordId('user', { ...HERE, user: part })).toBe(sound ? 'profile-pin:user:global' : null)
      expect(pinRecordId('workspace', { ...HERE, workspace: part })).toBeNull()
      expect(parsePinRecordId(`profile-pin:workspace:${part}`)).toBeNull()
      if (!sound) expect(parsePinRecordId(`profile-pin:session:${part}`)).toBeNull()
    },
  )

  it.each(['agent-registry:default', 'profile-pin', 'profile-pin:', 'profile-pin:global:x', 'profile-pin:team:x'])(
    'are no ids of other policies: %s',
    (id) => {
      expect(parsePinRecordId(id)).toBeNull()
    },
  )
})

describe('principals', () => {
  const principals = { local: { id: 'ada' }, principals: { vera: 'viewer', olga: 'operator' } } as const

  it('are the person at the machine where nobody is named, and admin then', () => {
    expect(principalOf(undefined, principals)).toEqual({ ok: true, principal: { id: 'ada', role: 'admin' } })
  })

  it('have the role that the settings say', () => {
    expect(principalOf('olga', principals)).toEqual({ ok: true, principal: { id: 'olga', role: 'operator' } })
  })

  it.each<Record<string, PrincipalRole>>([{}, { ada: 'viewer' }, { '*': 'viewer' }, { ada: 'admin', '*': 'admin' }])(
    'are never called as the person at the machine: %j',
    (given) => {
      expect(principalOf('ada', { ...principals, principals: given })).toEqual({
        ...{ ok: false, code: 'denied' },
        message:
          'ada is the name of the person at this machine, whose pins and sessions nobody else may have: ask without a ' +
          'name to be that person, or give others another name under principals in your own configuration.',
      })
    },
  )

  it.each(['mallory', 'constructor', 'toString', 'hasOwnProperty'])('who are not listed are nobody: %s', (name) => {
    expect(principalOf(name, principals)).toEqual({
      ok: false,
      code: 'denied',
      message: `${name} may do nothing here: give them a role (viewer, operator or admin) under principals in your own configuration.`,
    })
  })

  it('who are not listed are what is said for everybody else, if it is', () => {
    const others = { ...principals, principals: { '*': 'viewer', olga: 'operator' } } as const
    expect(principalOf('mallory', others)).toEqual({ ok: true, principal: { id: 'mallory', role: 'viewer' } })
    expect(principalOf('constructor', others)).toEqual({ ok: true, principal: { id: 'constructor', role: 'viewer' } })
    expect(principalOf('olga', others)).toEqual({ ok: true, principal: { id: 'olga', role: 'operator' } })
  })

  it.each(['*', '', 'a:b', '../a', 'a b', 'a\n', '__proto__', 'ä', 'x'.repeat(65)])(
    'have names: %j is none',
    (name) => {
      const others = { ...principals, principals: { '*': 'admin', 'a:b': 'admin' } } as const
      expect(principalOf(name, others)).toMatchObject({ ok: false, code: 'input' })
    },
  )

  it.each([
    ['ada', 'ada'],
    ['DOMAIN\\ada', 'DOMAIN-ada'],
    ['ada lovelace', 'ada-lovelace'],
    ['_www', 'www'],
    ['ä', 'local'],
    ['', 'local'],
    ['x'.repeat(80), 'x'.repeat(64)],
  ])('at the machine are called as its user: %j', (user, id) => {
    expect(localPrincipalId(user)).toBe(id)
    expect(pinRecordId('user', { ...HERE, user: localPrincipalId(user) })).toBe(`profile-pin:user:${id}`)
  })
})
