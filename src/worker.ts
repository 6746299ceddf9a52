import type { Retinue, RetinueOptions } from './api.js'
import { QueueWorker, type WorkerHealth, type WorkerNews } from './engine/index.js'
import { createWorkerRetinue } from './retinue.js'
import { VERSION } from './version.js'

/** Agents at work at once on one worker, unless it is told otherwise. */
const DEFAULT_CONCURRENCY = 8

export type WorkerOptions = RetinueOptions & {
  store: string
  /** Agents at work at once on each worker of the project. */
  concurrency?: number
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
  const { concurrency = DEFAULT_CONCURRENCY, say = () => {}, ...rest } = options
  const { retinue, advancing, dispatch, machine, identity, letGo } = await createWorkerRetinue(rest)
  const worker = new QueueWorker({
    ...{ dispatch, machine, identity, concurrency, say, letGo, project: retinue.cwd, version: VERSION },
    advance: (run_id, agent_id) => advancing.advance(run_id, agent_id),
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
