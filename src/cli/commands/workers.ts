import type { PresentWorker } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { age, line, type Paint, paintFor, plural } from '../style.js'
import { labelsInWords } from '../worker/labels.js'

type WorkersFlags = Omit<StoreOptions, 'engine'> & { all?: boolean; json?: boolean }

export async function workers(flags: WorkersFlags): Promise<number> {
  return withRetinue(flags, async (retinue) => {
    const present = await retinue.workers({ all: flags.all === true })
    if (flags.json) {
      for (const worker of present) process.stdout.write(`${JSON.stringify(worker)}\n`)
      return 0
    }
    const paint = paintFor(process.stdout, process.env)
    if (present.length === 0) process.stdout.write('No worker is there. Start one: retinue worker\n')
    // Of a clone it is not known whose it is, unless its folder is said.
    const isElsewhere = ({ project }: PresentWorker) => flags.all === true || project !== retinue.cwd
    for (const worker of present) process.stdout.write(`${workerLine(worker, isElsewhere(worker), paint)}\n`)
    return 0
  })
}

function workerLine(worker: PresentWorker, with_folder: boolean, { dim }: Paint): string {
  const { id, host, pid, concurrency, labels, at_once, per_run, version, project, started_at } = worker
  const about = [
    `process ${pid} on ${host}`,
    `${plural(concurrency, 'agent')} at once`,
    ...(labels.length > 0 ? [labelsInWords(labels)] : []),
    ...(at_once === null ? [] : [`at most ${at_once} on all workers`]),
    ...(per_run === null ? [] : [`at most ${per_run} of one run`]),
    `started ${age(started_at, Date.now())}`,
    `version ${version}`,
    ...(with_folder ? [project] : []),
  ]
  return `${line(id)}  ${dim(line(about.join(', ')))}`
}
