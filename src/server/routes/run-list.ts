import { setImmediate } from 'node:timers/promises'
import { type ListedRun, listedRun, type Retinue, type RunStatus } from '../../index.js'
import type { RunList } from '../wire.js'

export type ListQuery = {
  limit: number
  before?: string | undefined
  status?: RunStatus | undefined
  q?: string | undefined
  session_id?: string | undefined
}

/** So many rows are read at once. */
const PAGE = 200

/** Runs, newest first, as far as they fit what is asked for. */
export async function listRuns(
  retinue: Retinue,
  { limit, before, status, q, session_id }: ListQuery,
): Promise<RunList> {
  const sought = q?.trim().toLowerCase() ?? ''
  const wanted = {
    ...(session_id === undefined ? {} : { session_id }),
    ...(status === undefined ? {} : { status: status === 'closed' ? ('closed' as const) : ('running' as const) }),
  }
  const runs: ListedRun[] = []
  for (let last = before; ; await setImmediate()) {
    const rows = await retinue.store.runs({ ...wanted, ...(last === undefined ? {} : { before: last }), limit: PAGE })
    for (const { run_id, task } of rows) {
      if (!run_id.includes(sought) && !task.toLowerCase().includes(sought)) continue
      const run = await retinue.find(run_id)
      if (status !== undefined && run.status !== status) continue
      if (runs.length === limit) return { runs, more: true }
      runs.push(await listedRun(retinue, run))
    }
    last = rows.at(-1)?.run_id
    if (rows.length < PAGE) return { runs, more: false }
  }
}
