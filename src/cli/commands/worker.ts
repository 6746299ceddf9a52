import { setTimeout as sleep } from 'node:timers/promises'
import { openWorker, VERSION, type Worker } from '../../index.js'
import { EXIT } from '../exit.js'
import { placeOf, type StoreOptions } from '../open.js'
import type { Address } from '../options.js'
import { plural } from '../style.js'
import { untilEnded } from '../until-ended.js'
import { serveHealth } from '../worker/health.js'
import { labelsInWords } from '../worker/labels.js'
import { createReport } from '../worker/report.js'

type WorkerFlags = Omit<StoreOptions, 'engine'> & {
  concurrency?: number
  labels?: string[]
  atOnce?: number
  perRun?: number
  health?: Address
  grace: number
  json?: boolean
}

/** So much longer than it has, and what is written down then is written down by others. */
const LATE_MS = 5000

/** Works until somebody ends it, which is how it is meant to end: then what is at work has a while to come to rest. */
export async function worker(flags: WorkerFlags): Promise<number> {
  const report = createReport(flags.json === true)
  let begun: Worker | null = null
  const health = flags.health ? await serveHealth(flags.health, () => begun?.health() ?? null) : null
  try {
    const { concurrency, labels, atOnce: at_once, perRun: per_run } = flags
    const told = Object.entries({ concurrency, labels, at_once, per_run }).filter(([, value]) => value !== undefined)
    const worker = await openWorker({
      ...{ ...placeOf(flags), env: process.env, say: ({ kind, text }) => report(kind, text) },
      ...Object.fromEntries(told),
    })
    begun = worker
    const ended = untilEnded()
    const { id, retinue } = worker
    const own = worker.health()
    const where = health ? `; its health: ${health.url}/health` : ''
    const labelled = own.labels.length > 0 ? `, with ${labelsInWords(own.labels)}` : ''
    const on = `on ${plural(own.concurrency, 'agent')} at once${labelled}`
    report('started', `Worker ${id} works in ${retinue.cwd} ${on}${where}`, {
      ...{ id, project: retinue.cwd, concurrency: own.concurrency, labels: own.labels },
      ...{ at_once: own.at_once, per_run: own.per_run, version: VERSION, pid: process.pid },
      health: health?.url ?? null,
    })
    const signal = await ended
    const { working } = worker.health()
    const left = working === 0 ? '' : `; ${plural(working, 'agent')} at work may go on for ${flags.grace} s`
    report('stopping', `${signal}: it takes nothing more${left}`, { signal, working, grace_s: flags.grace })
    const late = sleep(flags.grace * 1000 + LATE_MS, 'late', { ref: false })
    const stopped = await Promise.race([worker.stop(flags.grace * 1000), late])
    const { done, problem } = worker.health()
    if (stopped === 'late') {
      const why = problem ?? 'What it waits for does not end'
      report('stopped', `Worker ${id} ends without a word to the others, who take up what it had: ${why}`, { id, done })
      process.exit(EXIT.failed)
    }
    report('stopped', `Worker ${id} has ended`, { id, done })
    return EXIT.ok
  } finally {
    await health?.close()
  }
}
