import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { GoalOptions } from '../../src/index.js'
import { type Files, filesIn } from './merge-files.js'
import { makeProject, type WhenFinished } from './project.js'
import { type Checkout, checkout } from './workspace-run.js'

const FIXTURE = fileURLToPath(new URL('../fixtures/plan-flow', import.meta.url))

/** A goal that is planned for and reached, on a script. */
export type Flow = {
  script: string
  goal: { text: string; options: Pick<GoalOptions, 'research' | 'execute' | 'approve'> }
  /** What a person's files are when it is over. */
  landed: (files: Files) => Files
  /** Sub-agents whose work is merged, in that order. */
  merged: string[]
}

export const PLAN_SETTINGS = {
  mode: 'auto' as const,
  model: { name: 'scripted/script.yaml', source: 'user' as const },
}

const SLUG = "return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')"
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
const DURATION = "return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`"
const ANOTHER_TEST = `test('no hyphen is at either end', () => {
  assert.equal(slug('(Who?)'), 'who')
})

`

/** Research, plan, two executors side by side, a review that finds a defect, repair, a review that finds none. */
export const FLOW: Flow = {
  script: readFileSync(`${FIXTURE}/script.yaml`, 'utf8'),
  goal: {
    text: 'The tests of this repository pass',
    options: {
      research: ['What does the README promise of slug?', 'Which tests are there, and what runs them?'],
      execute: true,
      approve: 'yes',
    },
  },
  landed: (files) => ({
    ...files,
    'src/slug.js': edited(files, 'src/slug.js', 'return title', SLUG),
    'src/duration.js': edited(files, 'src/duration.js', 'return String(seconds)', DURATION),
    'test/slug.test.js': edited(files, 'test/slug.test.js', "test('what is", `${ANOTHER_TEST}test('what is`),
  }),
  merged: ['a4', 'a5', 'a7'],
}

const USAGE = { usage: { input_tokens: 100, output_tokens: 10 } }
const STEP = { agent: 'executor', owns: ['src/duration.js'], checks: ['node test/duration.test.js'] }
const edit = { path: 'src/duration.js', old_text: 'return String(seconds)', new_text: DURATION }

/** The first step fails, for its check does; the planner, asked again, has another idea, which works. */
export const REPLANNED: Flow = {
  script: JSON.stringify({
    agents: {
      a1: [answer({ on_failure: 'replan', steps: [step('try', 'Leave it'), step('after', 'Look at it', ['try'])] })],
      a2: [{ ...USAGE, text: 'It is good as it is.' }],
      a3: [{ expect: 'Leave it', ...answer({ on_failure: 'replan', steps: [step('write', 'Write it')] }) }],
      a4: [
        { ...USAGE, calls: [{ edit_file: edit }] },
        { ...USAGE, text: 'Written.' },
      ],
      a5: [{ ...USAGE, text: JSON.stringify({ summary: 'It is there.', findings: [] }) }],
    },
  }),
  goal: { text: 'duration does what it says', options: { execute: true, approve: 'yes' } },
  landed: (files) => ({ ...files, 'src/duration.js': edited(files, edit.path, edit.old_text, edit.new_text) }),
  merged: ['a4'],
}

function answer(plan: object) {
  const whole = { version: 1, goal: 'duration does what it says', completion_criteria: ['It does'], ...plan }
  return { ...USAGE, text: JSON.stringify(whole) }
}

function step(id: string, title: string, depends_on: string[] = []) {
  return { id, title, description: title, depends_on, ...STEP }
}

function edited(files: Files, path: string, old_text: string, new_text: string): string {
  return (files[path] as string).replace(old_text, () => new_text)
}

/** The small repository whose tests fail, with a script beside them. */
export function flowProject(script: string, finished: WhenFinished): { cwd: string; before: Checkout } {
  const files = filesIn(`${FIXTURE}/project`) as Record<string, string>
  const cwd = makeProject({ ...files, 'script.yaml': script }, { git: true, finished })
  return { cwd, before: checkout(cwd) }
}
