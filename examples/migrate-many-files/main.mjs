import { readdirSync, readFileSync } from 'node:fs'
import { openRetinue } from 'retinue'

const files = readdirSync('src')
  .map((name) => `src/${name}`)
  .filter((file) => readFileSync(file, 'utf8').includes('.prototype.'))
if (files.length === 0) {
  console.log('Nothing is left to migrate.')
  process.exit(0)
}

const testOf = (file) => file.replace(/^src\/(.*)\.js$/, 'test/$1.test.js')
const check = (command) => ({ kind: 'command', command })

const retinue = await openRetinue({ cwd: process.cwd(), env: process.env })
const model = process.env.RETINUE_MODEL
const migration = retinue.fanOut(
  files.map((file) => ({
    title: `Migrate ${file}`,
    task: `In ${file} make the constructor function and its prototype a class. Change nothing else: ${testOf(file)} must pass as it is.`,
    profile: 'executor',
    owns: [file],
    checks: [check(`node --test ${testOf(file)}`), check(`! grep --quiet prototype ${file}`)],
  })),
  { mode: 'auto', maxConcurrent: 4, ...(model ? { model } : {}) },
)
for await (const { type, data } of migration) {
  if (type === 'agent.subagent_closed') console.log(`${data.sub_agent_id} ${data.final_status}`)
}
const results = await migration.results()
await retinue.close()

const left = results.flatMap(({ success, error }, i) => (success ? [] : [`${files[i]}: ${error.split('\n', 1)}`]))
console.log(`${files.length - left.length} of ${files.length} files migrated`)
for (const line of left) console.log(line)
process.exitCode = left.length === 0 ? 0 : 1
