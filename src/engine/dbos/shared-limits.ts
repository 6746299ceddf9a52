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
