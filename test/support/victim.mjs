// Works a run and kills itself, with SIGKILL, before or after the commit that holds a given event.
// node victim.mjs <cwd> <run id or -> <position> <before|after>
// Prints one line for each acknowledged append: the events that must never be lost.
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { createHost, createRetinue, openSqliteStore } from '../../dist/index.js'

const [cwd, run_id, position, when] = process.argv.slice(2)
const host = createHost()
const opened = await openSqliteStore({ file: join(cwd, '.retinue', 'retinue.db'), clock: host.clock })
if (!opened.ok) throw new Error(opened.message)
const { store } = opened
const die = () => process.kill(process.pid, 'SIGKILL')

const append = store.append.bind(store)
store.append = async (batch) => {
  const first = batch.expected_seq + 1
  const holds = first <= Number(position) && Number(position) < first + batch.events.length
  if (holds && when === 'before') {
    die()
    await new Promise(() => {})
  }
  const written = await append(batch)
  if (written.ok) for (const event of written.events) writeSync(1, `${JSON.stringify(event)}\n`)
  if (holds && when === 'after') {
    die()
    await new Promise(() => {})
  }
  return written
}

const retinue = await createRetinue({
  cwd,
  host,
  store,
  settings: { mode: 'dangerous', model: { name: 'scripted/script.yaml', source: 'user' } },
})
const run = run_id === '-' ? retinue.run({ task: 'Do the work' }) : retinue.resume(run_id)
const result = await run.result()
writeSync(1, `${JSON.stringify({ type: 'result', ...result })}\n`)
await retinue.close()
