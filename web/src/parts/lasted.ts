import type { RunSummary } from './library'

/** The time of a run: from its creation until now, or until its last event. */
export function lastedFor(run: Pick<RunSummary, 'status' | 'created_at' | 'updated_at'>, now: number): number {
  return Math.max(0, (run.status === 'running' ? now : run.updated_at) - run.created_at)
}
