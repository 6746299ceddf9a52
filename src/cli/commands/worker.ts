import { openWorker, VERSION, type Worker } from '../../index.js'
import { EXIT } from '../exit.js'
import { placeOf, type StoreOptions } from '../open.js'
import type { Address } from '../options.js'
import { plural } from '../style.js'
import { untilEnded } from '../until-ended.js'
import { serveHealth } from '../worker/health.js'
import { createReport, type Report } from '../worker/report.js'

type WorkerFlags = Omit<StoreOptions, 'engine'> & {
  concurrency?: number
  health?: Address
  grace: number
  json?: boolean
}

/** Works until somebody ends it, which is how it is meant to end: then what is at work has a while to come to rest. */
export async function worker(flags: WorkerFlags): Promise<number> {
  const report = createReport(flags.json === true)
  let begun: Worker | null = null
  const health = flags.health ? await serveHealth(flags.health, () => begun?.health() ?? null) : null
  try {
    const { concurrency } = flags
    const worker = await openWorker({
      ...{ ...placeOf(flags), env: process.env, say: ({ kind, text }) => report(kind, text) },
      ...(concurrency === undefined ? {} : { concurrency }),
    })
    begun = worker
    const ended = untilEnded()
    const { id, retinue } = worker
    const at_once = worker.health().concurrency
    const where = health ? `; its health: ${health.url}/health` : ''
    report('started', `Worker ${id} works in ${retinue.cwd} on ${plural(at_once, 'agent')} at once${where}`, {
      ...{ id, project: retinue.cwd, concurrency: at_once, version: VERSION, pid: process.pid },
      health: health?.url ?? null,
    })
    await compareWithOthers(worker, report)
    const signal = await ended
    const { working } = worker.health()
    const left = working === 0 ? '' : `; ${plural(working, 'agent')} at work may go on for ${flags.grace} s`
    report('stopping', `${signal}: it takes nothing more${left}`, { signal, working, grace_s: flags.grace })
    await worker.stop(flags.grace * 1000)
    const { done } = worker.health()
    report('stopped', `Worker ${id} has ended`, { id, done })
    return EXIT.ok
  } finally {
    await health?.close()
  }
}

/** DBOS has one number for the queue: whoever starts last says it for all. */
async function compareWithOthers({ id, retinue, health }: Worker, report: Report): Promise<void> {
  const { concurrency } = health()
  const others = (await retinue.workers()).filter((other) => other.id !== id && other.concurrency !== concurrency)
  if (others.length === 0) return
  const were = [...new Set(others.map((other) => other.concurrency))].join(', ')
  report('note', `Other workers of this folder were told ${were} at once; from now on each has ${concurrency}`)
}
