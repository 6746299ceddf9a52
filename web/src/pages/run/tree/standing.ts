import { endInWords, type RunTree, type Standing, standingOf, type TreeAgent, totalsOf } from '#domain'

/** How an agent stands. `interrupted`: it has not ended, and nobody works on the run. */
export type Standings = Standing | 'interrupted'

/** In the order in which an agent comes to them. */
export const STANDINGS = ['waiting', 'at_work', 'interrupted', 'completed', 'incomplete', 'failed'] as const

export const STANDING_WORDS: Record<Standings, string> = {
  waiting: 'waiting',
  at_work: 'at work',
  interrupted: 'interrupted',
  completed: 'completed',
  incomplete: 'incomplete',
  failed: 'failed',
}

/** `interrupted`: whether the run is. */
export function standingIn(agent: TreeAgent, interrupted: boolean): Standings {
  const standing = standingOf(agent)
  return interrupted && (standing === 'at_work' || standing === 'waiting') ? 'interrupted' : standing
}

/** In a word; of one that failed, the one that says how: `cancelled`, `error`. */
export function standingWord({ outcome }: TreeAgent, standing: Standings): string {
  const ended = standing === 'failed' || standing === 'incomplete'
  return ended && outcome !== null ? endInWords(standing, outcome) : STANDING_WORDS[standing]
}

/** How many sub-agents stand how: what the terminal counts. */
export function standingCounts(tree: RunTree, interrupted: boolean): Record<Standings, number> {
  const { waiting, at_work, completed, incomplete, failed } = totalsOf(tree)
  const ended = { completed, incomplete, failed }
  return interrupted
    ? { ...ended, waiting: 0, at_work: 0, interrupted: waiting + at_work }
    : { ...ended, waiting, at_work, interrupted: 0 }
}
