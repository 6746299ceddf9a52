import { startWorker } from '../src/library/workers/worker.js'
import { median } from './measure.js'

/** A worker of the benchmark, in a process of its own until its standard input ends. Says then how long commits took. */
const { cwd, store, concurrency, model } = JSON.parse(process.argv[2] as string)
const settings = { tools: ['read_file'], model: { name: model, source: 'user' as const } }
const worker = await startWorker({ cwd, store, concurrency, settings })
const log = worker.retinue.store
const append = log.append.bind(log)
const each_ms: number[] = []
log.append = async (batch) => {
  const began = performance.now()
  const written = await append(batch)
  each_ms.push(performance.now() - began)
  return written
}
process.stdout.write('begun\n')
await new Promise((ended) => process.stdin.once('end', ended).resume())
await worker.stop(0)
process.stdout.write(`${JSON.stringify({ commit_ms: each_ms.length > 0 ? median(each_ms) : null })}\n`)
process.exit(0)
