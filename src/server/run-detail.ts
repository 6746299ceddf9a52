import { type Retinue, RetinueError, type RunSummary } from '../index.js'
import type { OwnRuns } from './own-runs.js'
import type { RunDetail } from './wire.js'

/** A run by its whole id: what is a beginning of one to a person at a terminal is a mistake in a program. */
export async function findRun(retinue: Retinue, run_id: string): Promise<RunSummary> {
  const run = await retinue.find(run_id).catch((error: unknown) => {
    if (error instanceof RetinueError && error.code === 'input') return null
    throw error
  })
  if (run?.run_id === run_id) return run
  throw new RetinueError('not_found', `There is no run "${run_id}" in this store`)
}

export async function runDetail(retinue: Retinue, own: OwnRuns, run_id: string): Promise<RunDetail> {
  const run = await findRun(retinue, run_id)
  const result = run.status === 'closed' ? await retinue.result(run_id) : null
  // A log that cannot be read says so where it is read.
  const [created] = await retinue.store.read({ run_id, limit: 1 }).catch(() => [])
  const by = (created?.type === 'run.created' && created.data.by) || null
  return { run, result, owned_here: own.has(run_id), by }
}
