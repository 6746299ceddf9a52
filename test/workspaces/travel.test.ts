import { expect, it } from 'vitest'
import { Travel } from '../../src/workspaces/travel.js'

/** What the agents of a run have carried; it began with `base`. */
const CARRIED: Record<string, string[]> = { root: ['r1', 'r2'], a1: ['s1', 's2'], a2: ['t1'] }

const travel = new Travel({
  checkout: 'here',
  itinerary: { home: 'there', folder: '/project', base: 'base', needs: [] },
  parcels: async (whose) =>
    ['base', ...(whose === 'all' ? Object.keys(CARRIED) : whose).flatMap((agent_id) => CARRIED[agent_id] ?? [])].map(
      (commit) => ({ commit, digest: null }),
    ),
  parcel: async () => null,
  whereabouts: async () => null,
})

it.each([
  ['what it carried last', 's2', true],
  ['what it carried before', 's1', true],
  ['what one above it had when it began', 'r1', true],
  ['what the run began with', 'base', true],
  ['what one beside it carried', 't1', false],
  ['what nobody carried', 's3', false],
])('of an agent, others can have %s: %s, %s', async (_, commit, can) => {
  expect(await travel.hasCarried('a1', commit)).toBe(can)
})
