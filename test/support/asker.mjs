// Works a run before a person who never answers. Prints the run's id, and its result when it has one.
// node asker.mjs <cwd> <run id or ->
import { writeSync } from 'node:fs'
import { createRetinue } from '../../dist/index.js'

const [cwd, run_id] = process.argv.slice(2)
const silent = () => new Promise(() => {})
const person = { permit: silent, answer: silent, approve: silent }
const retinue = await createRetinue({ cwd, settings: { model: { name: 'scripted/script.yaml', source: 'user' } } })
const run = run_id === '-' ? retinue.run({ task: 'Do the work', person }) : retinue.resume(run_id, { person })
writeSync(1, `${run.run_id}\n`)
const result = await run.result()
writeSync(1, `${JSON.stringify(result)}\n`)
await retinue.close()
