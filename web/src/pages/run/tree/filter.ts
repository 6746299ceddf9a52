import { doingOf, standingOf, type TreeAgent } from '#domain'

export const FILTERS = ['all', 'at work', 'waiting', 'failed', 'clamped'] as const
export type Filter = (typeof FILTERS)[number]

/** What an agent waits for that is not its own sub-agents. */
const WAITS = new Set<string>([
  'waiting_for_slot',
  'waiting_for_person',
  'waiting_to_write',
  'waiting_for_merge',
  'retrying',
])

const IS: Record<Filter, (agent: TreeAgent) => boolean> = {
  all: () => true,
  'at work': (agent) => standingOf(agent) === 'at_work',
  waiting: (agent) => WAITS.has(doingOf(agent).kind),
  failed: (agent) => standingOf(agent) === 'failed' || standingOf(agent) === 'incomplete',
  clamped: ({ adjustments }) => adjustments.length > 0,
}

/** null: every agent is shown. */
export function wantedBy(filter: Filter, search: string): ((agent: TreeAgent) => boolean) | null {
  const text = search.trim().toLowerCase()
  if (filter === 'all' && text === '') return null
  const has = ({ id, title, profile, model }: TreeAgent) =>
    [id, title, profile ?? '', model].some((value) => value.toLowerCase().includes(text))
  return (agent) => IS[filter](agent) && (text === '' || has(agent))
}

export type Counts = Record<Filter, number>

/** How many agents each filter shows. */
export function countsOf(agents: Iterable<TreeAgent>): Counts {
  const counts: Counts = { all: 0, 'at work': 0, waiting: 0, failed: 0, clamped: 0 }
  for (const agent of agents) for (const filter of FILTERS) if (IS[filter](agent)) counts[filter]++
  return counts
}
