import type { RunTree, TreeAgent } from '#domain'
import { STANDING_WORDS, STANDINGS, type Standings, standingCounts, standingIn } from './standing'

/** Of sub-agents: how they stand, each in one way, and which of them got less than was asked for. */
export const FILTERS = ['all', ...STANDINGS, 'clamped'] as const
export type Filter = (typeof FILTERS)[number]

export const FILTER_WORDS: Record<Filter, string> = { all: 'all', ...STANDING_WORDS, clamped: 'clamped' }

export type Looked = { filter: Filter; search: string; interrupted: boolean }

/** null: every agent is shown. */
export function wantedBy({ filter, search, interrupted }: Looked): ((agent: TreeAgent) => boolean) | null {
  const text = search.trim().toLowerCase()
  if (filter === 'all' && text === '') return null
  const has = ({ id, title, profile, model }: TreeAgent) =>
    [id, title, profile ?? '', model].some((value) => value.toLowerCase().includes(text))
  return (agent) => is(agent, filter, interrupted) && (text === '' || has(agent))
}

function is(agent: TreeAgent, filter: Filter, interrupted: boolean): boolean {
  if (filter === 'all') return true
  if (agent.parent_id === null) return false
  return filter === 'clamped' ? agent.adjustments.length > 0 : standingIn(agent, interrupted) === filter
}

export type Counts = Record<Filter, number>

/** How many sub-agents each filter shows. */
export function countsOf(tree: RunTree, interrupted: boolean): Counts {
  const standings: Record<Standings, number> = standingCounts(tree, interrupted)
  let clamped = 0
  for (const agent of tree.agents.values()) if (is(agent, 'clamped', interrupted)) clamped++
  return { all: Math.max(0, tree.agents.size - 1), ...standings, clamped }
}
