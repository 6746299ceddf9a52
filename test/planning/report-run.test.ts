import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { makeProject } from '../support/project.js'

const usage = { input_tokens: 90, output_tokens: 10 }
const STEP = { agent: 'executor', owns: ['one.txt'] }
const PLAN = {
  ...{
    version: 1,
    goal: 'Have a note',
    assumptions: ['There is paper'],
    checks: [{ kind: 'paths', exist: ['one.txt'] }],
  },
  on_failure: 'continue',
  steps: [
    { ...STEP, title: 'Write it', description: 'Write one.txt', checks: [{ kind: 'paths', exist: ['one.txt'] }] },
    { ...STEP, title: 'Frame it', description: 'Frame it', owns: ['two.txt'] },
    { title: 'Hang it', description: 'Hang it', agent: 'researcher', depends_on: [2] },
  ],
}

const REPORT = `# Have a note

- Status: failed: step 2 failed: error: there are no frames
- Steps: 1 completed, 1 failed, 1 skipped
- Used: 2 sub-agents, 1 tool call, 200 tokens, cost unknown
- Time: …

## Taken for granted

- There is paper

## Steps

| step | title | who | status | files | cost | time |
| --- | --- | --- | --- | --- | --- | --- |
| 1 | Write it | executor | completed | \`one.txt\` | unknown | … |
| 2 | Frame it | executor | failed |  | $0.00 | … |
| 3 | Hang it | researcher | skipped |  |  | … |

### Step 1: Write it

- Status: completed
- Who: executor
- Files: \`one.txt\`
- Check passed: \`there is one.txt\`
- Check passed after the merge: \`there is one.txt\`
- Used: 1 tool call, 200 tokens, cost unknown

It says:

\`\`\`text
The note is written.
\`\`\`

### Step 2: Frame it

- Status: failed: error: there are no frames
- Who: executor
- Used: 0 tool calls, 0 tokens, $0.00

### Step 3: Hang it

- Status: skipped: step 2, which it depends on, failed
- Who: researcher
`

it('is printed, kept and told later as the same text, and what was used is what the next preview goes by', async () => {
  const cwd = makeProject({ 'README.md': 'Notes\n' }, { git: true, finished: onTestFinished })
  const model = createScriptedModel({
    name: 'script.yaml',
    agents: {
      a1: [
        { usage, calls: [{ write_file: { path: 'one.txt', content: 'note\n' } }] },
        { usage, text: '# Done\n\nThe note is written.' },
      ],
      a2: [{ fail: { code: 'auth', message: 'there are no frames' } }],
    },
  })
  const settings = { mode: 'auto' as const, model: { name: 'scripted/script.yaml', source: 'user' as const } }
  const retinue = await createRetinue({ cwd, models: modelsOf(model), settings })
  onTestFinished(() => retinue.close())
  const run = retinue.executePlan(PLAN)
  const { text } = await run.result()
  const { report } = await run.outcome()
  expect(report.replace(/^- Time: .*$/m, '- Time: …').replace(/^(\| \d .*\|) [^|]* \|$/gm, '$1 … |')).toBe(REPORT)
  expect(text).toBe(report)
  expect(readFileSync(join(cwd, '.retinue', 'reports', run.run_id, 'plan.md'), 'utf8')).toBe(report)
  expect((await retinue.planOutcome(run.run_id)).report).toBe(report)

  const checked = await retinue.checkPlan(PLAN)
  expect(checked.ok && checked.preview.steps.map(({ id, wave, estimate }) => [id, wave, estimate.tokens])).toEqual([
    ['1', 1, { most: 160_000, likely: 200 }],
    ['2', 1, { most: 160_000, likely: 200 }],
    ['3', 2, { most: 100_000, likely: null }],
  ])
})
