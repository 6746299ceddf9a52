import type { Store } from '../../store/index.js'

/** Why a worker could not work on an agent of a run. Another may be able to. */
export type WorkerRefusal = { agent_id: string; worker: string; reason: string; at: number }

export const REFUSED = 'refused'

/** `position`: how far the run had come. */
export type RefusedSignal = { agent_id: string; reason: string; position: number }

/** Of a run in which nothing has happened since. */
export async function refusalsOf(store: Store, run_id: string): Promise<WorkerRefusal[]> {
  const run = await store.run(run_id)
  if (!run || run.status === 'closed') return []
  const signals = (await store.signals({ run_id, after: 0 })).filter(({ kind }) => kind === REFUSED)
  return signals.flatMap(({ data, by, at }) => {
    const { agent_id, reason, position } = data as RefusedSignal
    return position === run.last_position ? [{ agent_id, worker: by, reason, at }] : []
  })
}
