import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, type WhenFinished } from './project.js'

type Note = { title: string; file: string; more?: Record<string, unknown> }

/** Three notes: the first two side by side, the third after both. */
const NOTES: Note[] = [
  { title: 'Write the first note', file: 'one.txt' },
  { title: 'Write the second note', file: 'two.txt' },
  { title: 'Write the third note', file: 'three.txt', more: { depends_on: [1, 2] } },
]

export const GOAL = 'Have three notes written'

/** As the planner would answer, or a person write it down: JSON is YAML. */
export function planOfNotes(more: Record<string, unknown> = {}, third: Record<string, unknown> = {}): string {
  const steps = NOTES.map(({ title, file, more = {} }, i) => ({
    ...{ title, description: `Write ${file}.`, owns: [file], ...more },
    ...(i === 2 ? third : {}),
  }))
  return JSON.stringify({ version: 1, goal: GOAL, checks: ['test -f one.txt'], ...more, steps }, null, 2)
}

/** The sub-agents that write the notes, from the one with this number on. */
function writers(first: number, waits = ''): string {
  return NOTES.map(
    ({ file }, i) => `  a${first + i}:
${i === 2 ? waits : ''}    - delay_ms: ${i === 2 && waits !== '' ? 2000 : 1}
      calls:
        - write_file: { path: ${file}, content: "${file}\\n" }
    - text: "Wrote ${file}."
`,
  ).join('')
}

const HELD = `    - calls:
        - run_command: { command: "until [ -e go ]; do sleep 0.1; done" }
`

/**
 * A repository with scripts: `goal.yaml` where a planner comes first, `research.yaml` where a researcher does, `run.yaml`
 * where there is a plan (plan.yaml), and `held.yaml` where its last step waits until `go` is in
 * its worktree.
 */
export function planProject(files: Record<string, string> = {}, finished?: WhenFinished): string {
  const planner = `    - text: |\n${planOfNotes().replace(/^/gm, '        ')}\n`
  return makeProject(
    {
      'goal.yaml': `agents:\n  a1:\n${planner}${writers(2)}`,
      'research.yaml': `agents:\n  a1:\n    - text: "There is nothing yet."\n  a2:\n${planner}${writers(3)}`,
      'run.yaml': `agents:\n${writers(1)}`,
      'held.yaml': `agents:\n${writers(1, HELD)}`,
      'plan.yaml': planOfNotes(),
      ...files,
    },
    { git: true, ...(finished ? { finished } : {}) },
  )
}

/** An editor that does what a shell script says, with the file as its first argument. */
export function scriptedEditor(cwd: string, script: string): string {
  const file = join(cwd, '.git', 'editor.sh')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

/** The runs whose plans are saved in a folder. */
export function savedIn(cwd: string): string[] {
  return readdirSync(join(cwd, '.retinue', 'plans')).map((name) => name.replace(/\.yaml$/, ''))
}
