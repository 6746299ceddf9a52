import { writeFileSync } from 'node:fs'
import { openRetinue } from 'retinue'

const questions = [
  { title: 'What is caught', task: 'Find every try/catch in src. Say for each what becomes of the error.' },
  {
    title: 'What is thrown',
    task: 'Find the error classes in src/errors.js. Say who throws each, and what is inconsistent.',
  },
  {
    title: 'What is logged',
    task: 'Find where errors are logged or swallowed in src. Name every place that loses one.',
  },
]

const retinue = await openRetinue({ cwd: process.cwd(), env: process.env })
const model = process.env.RETINUE_MODEL
const research = retinue.fanOut(
  questions.map((question) => ({ ...question, profile: 'researcher' })),
  { maxConcurrent: 3, ...(model ? { model } : {}) },
)
const results = await research.results()
await retinue.close()

const sections = results.map(({ success, details, error, agent_id, tool_calls, tokens }, i) => {
  const answer = success ? details : `Not answered: ${error}\n\n${details}`
  return `## ${questions[i].title}\n\n${answer.trim()}\n\n_${agent_id}: ${tool_calls} tool calls, ${tokens} tokens_`
})
writeFileSync('error-handling.md', `# Error handling\n\n${sections.join('\n\n')}\n`)

const answered = results.filter(({ success }) => success).length
console.log(`${answered} of ${questions.length} questions answered: error-handling.md`)
console.log(`All that they did: retinue show ${research.run_id}`)
process.exitCode = answered === questions.length ? 0 : 1
