// A worker in a process of its own, which may kill itself, with SIGKILL, or stop itself, with SIGSTOP. One argument, as JSON:
//   cwd, store, settings, concurrency; labels, at_once, per_run: as a worker is told, where it is
//   machine: null, or the name of the machine that others are to think it is on
//   providers: where its models come from, besides scripts
//   kill: null, or when: before or after the commit that holds the n-th event this process appends, to whatever stream
//   ({position, when}), or the first event of a type in the stream of an agent ({type, agent_id, when}); signal: SIGSTOP,
//   where that is what it does, and goes on from there when it is continued
// A line on its standard input begins it, so that loading its modules does not count; the end of that stops it. Prints
// one line when it has begun, one for what a person should hear of, and one for each acknowledged append: the events that
// must never be lost. Each call of a model is written to .retinue/calls.jsonl before it is made, with the id of the process.
import { appendFileSync, mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createHost, createModels, startWorker } from '../../dist/index.js'

const { cwd, store, settings, concurrency, machine, providers, kill, ...told } = JSON.parse(process.argv[2])
const print = (line) => writeSync(1, `${JSON.stringify(line)}\n`)
const never = new Promise(() => {})
let struck = false
const strike = () => {
  struck = true
  const { signal = 'SIGKILL' } = kill
  process.kill(process.pid, signal)
  return signal === 'SIGKILL' ? never : undefined
}

const own = createHost()
/** Whoever is on another machine cannot tell whether this process lives. */
const elsewhere = {
  owner: own.identity.owner.replace(/^[^:]*/, machine),
  isAlive: (owner) => (owner === elsewhere.owner ? true : null),
}
const host = machine === null ? own : { ...own, identity: elsewhere }

const models = createModels({ env: {}, providers, scripts_root: cwd, readText: host.readText })
mkdirSync(join(cwd, '.retinue'), { recursive: true })
const counted = (model) => ({
  ...model,
  generate: (request, options) => {
    const { agent_id, purpose } = options.caller
    const call = { pid: process.pid, agent_id, purpose }
    appendFileSync(join(cwd, '.retinue', 'calls.jsonl'), `${JSON.stringify(call)}\n`)
    return model.generate(request, options)
  },
})
const resolve = models.resolve.bind(models)
models.resolve = async (name) => {
  const resolved = await resolve(name)
  return resolved.ok ? { ...resolved, model: counted(resolved.model) } : resolved
}

const input = createInterface({ input: process.stdin })
const closed = new Promise((done) => input.once('close', done))
const begun = await Promise.race([new Promise((done) => input.once('line', () => done(true))), closed])
if (!begun) process.exit(0)

const say = (what) => print({ type: 'said', what })
const worker = await startWorker({ cwd, store, settings, concurrency, ...told, host, models, say })
const log = worker.retinue.store
const append = log.append.bind(log)
let appended = 0
log.append = async (batch) => {
  const first = appended + 1
  appended += batch.events.length
  const is_meant = ({ type }) => type === kill?.type && batch.agent_id === kill.agent_id
  const holds = (kill?.position >= first && kill.position <= appended) || batch.events.some(is_meant)
  if (holds && !struck && kill.when === 'before') await strike()
  const written = await append(batch)
  if (written.ok) for (const event of written.events) print(event)
  else print({ type: 'refused', code: written.code, agent_id: batch.agent_id, epoch: batch.epoch })
  if (holds && !struck && kill.when === 'after') await strike()
  return written
}
print({ type: 'begun', id: worker.id })
await closed
await worker.stop(100)
