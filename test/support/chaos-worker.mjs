// A worker that may be killed at any moment. One argument, as JSON: cwd, store, settings, concurrency, ledger (a folder).
// Each call of a model is written to calls.jsonl in the ledger before it is made. Prints `ready` once it takes work.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { createHost, createModels, startWorker } from '../../dist/index.js'

// As bin/retinue.js does.
setFlagsFromString('--liftoff-only')
const { cwd, store, settings, concurrency, ledger } = JSON.parse(process.argv[2])
const host = createHost()
const models = createModels({ env: {}, scripts_root: cwd, readText: host.readText })
const counted = (model) => ({
  ...model,
  generate: (request, options) => {
    const { run_id, agent_id, purpose } = options.caller
    const call = { at: host.clock.now(), pid: process.pid, run_id, agent_id, purpose }
    appendFileSync(join(ledger, 'calls.jsonl'), `${JSON.stringify(call)}\n`)
    return model.generate(request, options)
  },
})
const resolve = models.resolve.bind(models)
models.resolve = async (name) => {
  const resolved = await resolve(name)
  return resolved.ok ? { ...resolved, model: counted(resolved.model) } : resolved
}

// One whose parent is gone has nobody who would end it.
process.stdin.on('end', () => process.exit(1)).resume()
const say = ({ text }) => process.stderr.write(`${new Date().toISOString()} ${process.pid} ${text}\n`)
const worker = await startWorker({ cwd, host, store, models, settings, concurrency, env: {}, say })
process.stdout.write('ready\n')
process.once('SIGTERM', async () => {
  await worker.stop(1000)
  process.exit(0)
})
