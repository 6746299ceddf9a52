/**
 * What all workers of a project share: how many agents are at work at once on all of them together, and of one run. null:
 * as many as there is room for. Agents with a label are counted apart, for each label: they wait on a queue of their own.
 */
export type SharedLimits = { at_once: number | null; per_run: number | null }

/** The same as DBOS has it with a queue. One run has no more than all together, and a limit that says otherwise is refused. */
export function sharedLimits({ at_once, per_run }: SharedLimits): {
  globalConcurrency?: number
  partitionConcurrency?: number
} {
  return {
    ...(at_once === null ? {} : { globalConcurrency: at_once }),
    ...(per_run === null ? {} : { partitionConcurrency: Math.min(per_run, at_once ?? per_run) }),
  }
}

const WHAT = { at_once: 'for all agents at work at once', per_run: 'for those of one run' } as const

/** Whoever starts last says them for all: what it changes for the others. */
export function changedLimits(now: SharedLimits, before: readonly SharedLimits[]): string[] {
  return (Object.keys(WHAT) as (keyof SharedLimits)[]).flatMap((limit) => {
    const were = [...new Set(before.map((other) => other[limit]))].filter((number) => number !== now[limit])
    if (were.length === 0) return []
    const told = were.map((number) => number ?? 'no limit').join(', ')
    return [
      `Other workers of this folder were told ${told} ${WHAT[limit]}; from now on it is ${now[limit] ?? 'no limit'}`,
    ]
  })
}
