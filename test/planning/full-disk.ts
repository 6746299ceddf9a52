// What becomes of a run whose store takes no sub-agent any more: node scripts/run.mjs test/planning/full-disk.ts <folder> <plan|task>
// In a process of its own: one that spins would not even hear that a test has run out of time.
import { createMemoryStore, createRetinue, RetinueError } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'

const [cwd = '', how] = process.argv.slice(2)
const delegate = { delegate_task: { plan: 'P', subtasks: [{ task: 'A' }, { task: 'B' }] } as never }
const agents = { root: [{ calls: [delegate] }, { text: 'Done.' }], 'a*': [{ text: 'Done.' }] }
const store = createMemoryStore({ clock: { now: () => Date.now() } })
const append = store.append.bind(store)
let full = false
store.append = async (batch) => {
  full ||= batch.events.some(({ type }) => type === 'agent.subagent_created')
  if (full && batch.agent_id === 'root') throw new Error('the disk is full')
  return append(batch)
}
const models = modelsOf(createScriptedModel({ name: 'test', agents }))
const retinue = await createRetinue({ cwd, models, store, settings: { mode: 'auto' } })
const plan = { version: 1, goal: 'Do it', steps: [{ id: 'one', description: 'Do it' }] }
const run = how === 'plan' ? retinue.executePlan(plan, { approve: 'yes' }) : retinue.run({ task: 'Work' })
const came = await run.result().then(
  ({ outcome }) => outcome,
  (error: unknown) => (error instanceof RetinueError ? `${error.code}: ${error.message}` : String(error)),
)
console.log(came)
await retinue.close()
