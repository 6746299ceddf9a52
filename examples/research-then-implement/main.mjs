import { openRetinue, summarize } from 'retinue'

const goal =
  'Add JWT authentication to the API: POST /token with a password answers with a token (HS256, valid for an hour), ' +
  'and every route takes it as Bearer. No new dependencies.'

const retinue = await openRetinue({ cwd: process.cwd(), env: process.env })
const model = process.env.RETINUE_MODEL
const run = retinue.planForGoal(goal, {
  research: ['How are requests authenticated now, and where?', 'Which tests are there, and how are they run?'],
  execute: true,
  approve: 'yes',
  mode: 'auto',
  ...(model ? { model } : {}),
})
for await (const event of run) if (event.type.startsWith('plan.')) console.error(summarize(event))
const { status, report } = await run.outcome()
await retinue.close()

console.log(report)
process.exitCode = status === 'completed' ? 0 : 1
