import { describe, expect, it } from 'vitest'
import { ladder, pinnedFor, pinsElsewhere } from '../../web/src/pages/agents/pins/ladder'
import { sessionName, sessionsToPinIn, whyNotPin } from '../../web/src/pages/agents/pins/may-pin'

type Pin = Parameters<typeof pinnedFor>[0]
type Scope = Pin['scope']

const PLACE = { session: 's1', user: 'olga', workspace: '0123456789abcdef' }
const IDS: Record<Scope, string> = {
  session: 'profile-pin:session:s1',
  user: 'profile-pin:user:olga',
  workspace: 'profile-pin:workspace:0123456789abcdef',
  global: 'profile-pin:global',
}
const pin = (scope: Scope, more: Partial<Pin> = {}): Pin => ({
  ...{ scope, record_id: IDS[scope], profile_id: 'reviewer', handle: null, fault: null, by: 'olga', at: 1 },
  ...more,
})

const says = (pins: Pin[], in_effect: Pin | null, place: Parameters<typeof ladder>[1] = PLACE) =>
  ladder({ pins, in_effect }, place).map((rung) => `${rung.scope}${rung.holds ? ' holds' : ''}: ${rung.says}`)

describe('which pin counts', () => {
  it('the strongest, and why the others do not', () => {
    const pins = [pin('user'), pin('workspace'), pin('global')]
    expect(says(pins, pins[0] ?? null)).toEqual([
      'session: Nothing is pinned for this session.',
      'user holds: In effect: nothing is pinned for this session.',
      'workspace: Not in effect here: the pin for you is stronger.',
      'global: Not in effect here: the pin for you is stronger.',
    ])
  })

  it('outside of sessions none is asked about', () => {
    const pins = [pin('user')]
    expect(says(pins, pins[0] ?? null, { ...PLACE, session: null })).toEqual([
      'session: Choose a session to see what is pinned for it.',
      'user holds: In effect: none is stronger here.',
      'workspace: Nothing is pinned for this workspace.',
      'global: Nothing is pinned for everybody (global).',
    ])
  })

  it('one that cannot be used is not passed over', () => {
    const pins = [pin('session', { fault: 'there is no profile "x" any more.' }), pin('global')]
    expect(says(pins, pins[0] ?? null)).toEqual([
      'session holds: It is the strongest that is there, so runs fail: no weaker pin is taken instead.',
      'user: Nothing is pinned for you.',
      'workspace: Nothing is pinned for this workspace.',
      'global: Not in effect here: the pin for this session is stronger.',
    ])
  })

  it('those of others are elsewhere, with their names', () => {
    const others = [
      pin('session', { record_id: 'profile-pin:session:s2' }),
      pin('user', { record_id: 'profile-pin:user:bob' }),
      pin('workspace', { record_id: 'profile-pin:workspace:ffffffffffffffff' }),
    ]
    const elsewhere = pinsElsewhere([...others, pin('user'), pin('global')], PLACE)
    expect(elsewhere).toEqual(others)
    expect([...elsewhere, pin('user'), pin('global')].map((one) => pinnedFor(one, PLACE))).toEqual([
      'for the session s2',
      'for bob',
      'for the workspace ffffffffffffffff',
      'for you',
      'for everybody (global)',
    ])
  })
})

describe('who may pin', () => {
  it('a viewer for itself, an operator everywhere', () => {
    const scopes: Scope[] = ['session', 'user', 'workspace', 'global']
    expect(scopes.map((scope) => whyNotPin({ id: 'vera', role: 'viewer' }, scope))).toEqual([
      null,
      null,
      'needs the role operator or more, and vera is viewer',
      'needs the role operator or more, and vera is viewer',
    ])
    expect(scopes.map((scope) => whyNotPin({ id: 'olga', role: 'operator' }, scope))).toEqual([null, null, null, null])
  })

  it('a viewer in its own sessions', () => {
    type Sessions = Parameters<typeof sessionsToPinIn>[0]
    const sessions = [
      { session_id: 'a', owner: 'vera', title: 'Docs' },
      { session_id: 'b', owner: 'olga', title: '' },
      { session_id: 'c', owner: null, title: '' },
    ] as unknown as Sessions
    const names = (id: string, role: 'viewer' | 'operator') => sessionsToPinIn(sessions, { id, role }).map(sessionName)
    expect(names('vera', 'viewer')).toEqual(['Docs (a)'])
    expect(names('vera', 'operator')).toEqual(['Docs (a)', 'b', 'c'])
  })
})
