import { QueueWorker, type WorkerHealth, type WorkerNews } from '../../engine/index.js'
import type { Retinue, RetinueOptions } from '../api.js'
import { createWorkerRetinue } from '../create.js'
import { checkOptions, workerOptionsSchema } from '../options.js'
import { DEFAULT_CONCURRENT } from '../runs/preparation.js'
import { VERSION } from '../version.js'

export type WorkerOptions = RetinueOptions & {
  store: string
  /** Agents at work at once on this worker. Default: as the settings have it for one process. */
  concurrency?: number
  /** What this machine has that others have not: sub-agents can ask for a worker with one of them. */
  labels?: readonly string[]
  /** Agents at work at once on all workers of the project together. Those with a label, or bound to a folder, count apart. */
  at_once?: number
  /** The same of one run. */
  per_run?: number
  /** What a person should hear of. */
  say?: (news: WorkerNews) => void
}

/** A process that works on agents that were given to the workers: `engine: dbos`. */
export type Worker = {
  readonly id: string
  readonly retinue: Retinue
  health(): WorkerHealth
  /** Takes nothing more; what is at work has so long to come to rest, and is then left to other workers. */
  stop(grace_ms?: number): Promise<void>
}

/** One in a process. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { labels = [], at_once, per_run, say = () => {}, ...given } = options
  const { concurrency = options.settings?.max_concurrent ?? DEFAULT_CONCURRENT, ...rest } = given
  checkOptions(workerOptionsSchema, { concurrency, labels, at_once, per_run })
  const limits = { at_once: at_once ?? null, per_run: per_run ?? null }
  const { retinue, advancing, dispatch, machine, identity, letGo, sweep } = await createWorkerRetinue(rest, labels)
  const worker = new QueueWorker({
    ...{ dispatch, machine, identity, concurrency, limits, say, letGo, sweep, project: retinue.cwd, version: VERSION },
    labels: [...new Set(labels)],
    advance: (run_id, agent_id, why) => advancing.advance(run_id, agent_id, why),
    refused: (refusal) => advancing.refused(refusal),
  })
  try {
    await worker.start()
  } catch (error) {
    await retinue.close()
    throw error
  }
  const stop = async (grace_ms?: number) => {
    await worker.stop(grace_ms)
    await retinue.close()
  }
  return { id: worker.id, retinue, health: () => worker.health(), stop }
}
