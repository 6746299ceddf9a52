import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, type WhenFinished } from './project.js'
import { OWN_CONFIG } from './window-place.js'

/** A command that ends when there is a file of this name in the folder. */
const until = (file: string) => ({
  run_command: { command: `until [ -e ${file} ]; do sleep 0.05; done; echo ${file}` },
})

/** Lets everything go on that waits for this file. */
export function release(cwd: string, ...files: string[]): void {
  for (const file of files) writeFileSync(join(cwd, file), '')
}

/** The tree grows in three stages: a1 at once, a2 and a3 with it when there is `more`, and all end when there is `go`. */
const GROWING = {
  root: [
    { calls: [{ spawn: { task: 'Look at the slates', profile: 'slow' } }], ...usage(900, 40) },
    { calls: [until('more')] },
    {
      calls: [
        { spawn: { task: 'Look at the gutters', profile: 'slow' } },
        { spawn: { task: 'Have the rafters looked at', profile: 'lead' } },
      ],
    },
    { calls: [{ spawn_await: { job_ids: '*' } }] },
    { expect: { contains: ['[a1: OK]', '[a2: OK]', '[a3: OK]'] }, text: 'The roof is **sound**.', ...usage(2400, 80) },
  ],
  a3: [
    { calls: [{ spawn: { task: 'Look at the rafters', profile: 'slow' } }] },
    { calls: [{ spawn_await: { job_ids: '*' } }] },
    { text: 'The rafters hold.' },
  ],
  'a*': [{ calls: [until('go')] }, { expect: 'go', text: 'All is well here.', ...usage(1200, 30) }],
}

/** Two questions: the first gets a yes, the second a no with a reason. */
const ASKING = {
  root: [
    { calls: [{ write_file: { path: 'notes.txt', content: 'Slates: sound\n' } }] },
    { calls: [{ write_file: { path: 'secret.txt', content: 'The key is under the mat\n' } }] },
    { expect: 'Not that one', text: 'The notes are written.' },
  ],
}

/** A sub-agent that asked for more than it gets. */
const CLAMPED = {
  root: [
    { calls: [{ spawn_agent: { task: 'Count the slates', profile: 'researcher', max_tool_calls: 5000 } }] },
    { text: 'There are 412 slates.' },
  ],
  'a*': [{ calls: [{ read_file: { path: 'roof.md' } }] }, { text: 'I counted 412.' }],
}

function usage(input_tokens: number, output_tokens: number) {
  return { usage: { input_tokens, output_tokens }, cost_usd: (input_tokens + output_tokens) / 100_000 }
}

const SCRIPTS = {
  growing: GROWING,
  asking: ASKING,
  clamped: CLAMPED,
  /** Only ends when it is told to. */
  'held-on': { root: [{ calls: [until('never')] }, { text: 'It came.' }] },
  /** Ends when there is `go`. */
  held: {
    root: [
      { calls: [until('go')] },
      // Its process was killed meanwhile: then once more.
      { branches: [{ when: { contains: 'Interrupted' }, steps: [{ calls: [until('go')] }] }, { steps: [] }] },
      { expect: 'go', text: 'It went on.' },
    ],
  },
  short: { root: [{ text: 'There is nothing to do.', ...usage(500, 10) }] },
  /** 200 sub-agents, half of them before there is `go`. */
  wide: {
    root: [
      { calls: Array.from({ length: 100 }, (_, i) => ({ spawn: { task: `Count slate ${i + 1}` } })) },
      { calls: [until('go')] },
      { calls: Array.from({ length: 100 }, (_, i) => ({ spawn: { task: `Count slate ${i + 101}` } })) },
      { calls: [{ spawn_await: { job_ids: '*' } }] },
      { text: 'All 200 are counted.' },
    ],
    'a*': [{ calls: [{ read_file: { path: 'roof.md' } }] }, { text: 'Counted.' }],
  },
}
export type Script = keyof typeof SCRIPTS

/** As one types it for the model of a run. */
export const model = (script: Script) => `scripted/${script}.yaml`

/** With more time than a busy machine takes. */
const PROFILES = `profiles:
  slow: { description: Takes its time., budget: { wall_ms: 600000 } }
  lead: { description: Has others do it., budget: { wall_ms: 600000 }, can_spawn_children: true }
`

/** All commands look for files of the one folder, and nothing waits until it may write. */
const CONFIG = `model: scripted/short.yaml
workspace: { isolation: shared }
budget: { sub_agents: 250, tool_calls: 1000, wall_ms: 900000, total_tokens: 100000000 }
delegation: { budget: { tool_calls: 15, context_tokens: 8192, wall_ms: 600000 } }
`

export function windowProject(
  options: { files?: Record<string, string>; config?: string; finished?: WhenFinished } = {},
): string {
  const scripts = Object.entries(SCRIPTS).map(([name, agents]) => [`${name}.yaml`, JSON.stringify({ agents })])
  return makeProject(
    {
      ...Object.fromEntries(scripts),
      'roof.md': '412 slates.\n',
      'retinue.yaml': PROFILES,
      [OWN_CONFIG]: `${CONFIG}${options.config ?? ''}`,
      ...options.files,
    },
    options.finished ? { finished: options.finished } : {},
  )
}
