// Works a run with sub-agents and may kill itself, with SIGKILL. One argument, as JSON:
//   cwd, run_id (null: a new run), task, settings
//   goal: {text, options}: a plan is made for it, instead of the task
//   person: null, or what becomes of a plan that they are asked about: `approve`, or `never`: they do not answer. Each
//   question is a line in .retinue/asked
//   kill: null, or {position, when}: before or after the commit that holds the n-th event this process appends, to
//   whatever stream; or {file}: as soon as there is something in this file in cwd
// Prints one line for each acknowledged append: the events that must never be lost. Each call of a model is written to
// .retinue/calls.jsonl before it is made, with the id of the process.
import { appendFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createHost, createModels, createRetinue, openSqliteStore } from '../../dist/index.js'

const { cwd, run_id, task, goal, person, settings, kill } = JSON.parse(process.argv[2])
const host = createHost()
const opened = await openSqliteStore({ file: join(cwd, '.retinue', 'retinue.db'), clock: host.clock })
if (!opened.ok) throw new Error(opened.message)
const { store } = opened
const never = new Promise(() => {})
const die = () => {
  process.kill(process.pid, 'SIGKILL')
  return never
}

const append = store.append.bind(store)
let appended = 0
store.append = async (batch) => {
  const first = appended + 1
  appended += batch.events.length
  const holds = kill?.position >= first && kill.position <= appended
  if (holds && kill.when === 'before') await die()
  const written = await append(batch)
  if (written.ok) for (const event of written.events) writeSync(1, `${JSON.stringify(event)}\n`)
  if (holds && kill.when === 'after') await die()
  return written
}
const sizeOf = (file) => statSync(join(cwd, file), { throwIfNoEntry: false })?.size ?? 0
if (kill?.file) setInterval(() => sizeOf(kill.file) > 0 && die(), 5).unref()

const models = createModels({ env: {}, scripts_root: cwd, readText: host.readText })
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

const retinue = await createRetinue({ cwd, host, store, models, settings })
const approve = async ({ step }) => {
  appendFileSync(join(cwd, '.retinue', 'asked'), `${step ?? 'plan'}\n`)
  return person === 'approve' ? { answer: 'approve', by: 'person' } : never
}
const nobody = async () => null
const watching = person ? { person: { permit: nobody, answer: nobody, approve } } : {}
const begin = () =>
  goal ? retinue.planForGoal(goal.text, { ...goal.options, ...watching }) : retinue.run({ task, ...watching })
const run = run_id === null ? begin() : retinue.resume(run_id, watching)
const result = await run.result()
writeSync(1, `${JSON.stringify({ type: 'result', ...result })}\n`)
await retinue.close()
