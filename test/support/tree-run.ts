import { makeProject, type WhenFinished } from './project.js'

/** A project whose run makes a tree, and what is in its folder when the run is over. */
export type TreeRun = {
  script: string
  /** Sub-agents with how each ends. */
  ends: Record<string, 'completed' | 'error' | 'gate_failed'>
  files: Record<string, string>
}

const FILES = { 'a.txt': 'alpha\nbeta\n' }

/** Fixed, because what an interruption adds to a conversation would change an estimate. */
const USAGE = 'usage: { input_tokens: 100, output_tokens: 10 }'

/** Two that are done early, one of them judged by a check; one that fails; one that is at work for long. */
export const FOUR: TreeRun = {
  script: `
agents:
  root:
    - ${USAGE}
      calls:
        - spawn: { task: Write the file, owns: ["out/**"] }
        - spawn: { task: Work for long }
    - expect: { matches: "^a1\\\\na2$" }
      ${USAGE}
      calls:
        - spawn_agent: { task: Say what is in the file, checks: ["grep -q alpha a.txt"] }
        - spawn_agent: { task: Fail }
    - expect: { contains: ["[COMPLETED]", It says alpha., "[ERROR]", no entry] }
      ${USAGE}
      calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: ["[a1: OK]", Written., "[a2: OK]", Worked.], excludes: ["a3", "a4"] }
      ${USAGE}
      text: "All done."
  a1:
    - ${USAGE}
      calls:
        - write_file: { path: out/new.txt, content: "one\\n" }
    - ${USAGE}
      text: Written.
  a2:
    - ${USAGE}
      delay_ms: 30
      calls:
        - read_file: { path: a.txt }
    - ${USAGE}
      delay_ms: 30
      calls:
        - search_files: { pattern: alpha }
    - ${USAGE}
      delay_ms: 30
      calls:
        - edit_file: { path: a.txt, old_text: beta, new_text: gamma }
    - ${USAGE}
      delay_ms: 30
      calls:
        - list_dir: {}
    - ${USAGE}
      delay_ms: 30
      text: Worked.
  a3:
    - ${USAGE}
      calls:
        - read_file: { path: a.txt }
    - ${USAGE}
      text: It says alpha.
  a4:
    - ${USAGE}
      calls:
        - list_dir: {}
    - fail: { code: auth, message: no entry }
`,
  ends: { a1: 'completed', a2: 'completed', a3: 'completed', a4: 'error' },
  files: { 'a.txt': 'alpha\ngamma\n', 'out/new.txt': 'one\n' },
}

/** Subtasks that need each other: the third fails, so the fourth never starts. */
export const PLAN: TreeRun = {
  script: `
agents:
  root:
    - ${USAGE}
      calls:
        - delegate_task:
            plan: Write, read, fail
            subtasks:
              - { task: Write it }
              - { task: Read it, depends_on: 0 }
              - { task: Fail, depends_on: 1 }
              - { task: Never started, depends_on: 2 }
    - expect: { contains: ["[ERROR] 2 of 4 subtasks completed", "[SKIPPED]"] }
      ${USAGE}
      text: "All done."
  a1:
    - ${USAGE}
      calls:
        - write_file: { path: out/new.txt, content: "one\\n" }
    - ${USAGE}
      text: Written by the first.
  a2:
    - expect: Written by the first.
      ${USAGE}
      calls:
        - read_file: { path: out/new.txt }
    - ${USAGE}
      text: It says one.
  a3:
    - expect: It says one.
      fail: { code: auth, message: no entry }
`,
  ends: { a1: 'completed', a2: 'completed', a3: 'error' },
  files: { 'a.txt': 'alpha\nbeta\n', 'out/new.txt': 'one\n' },
}

/** Sub-agents with sub-agents of their own. One answers before it has asked for their results. */
export const DEEP: TreeRun = {
  script: `
agents:
  root:
    - ${USAGE}
      calls:
        - spawn_agent: { task: Lead, profile: lead }
        - spawn_agent: { task: Lead too, profile: lead }
    - expect: { contains: [Led., Led too.] }
      ${USAGE}
      text: "All done."
  a1:
    - ${USAGE}
      calls:
        - spawn: { task: Write it }
        - spawn: { task: Fail }
    - ${USAGE}
      calls:
        - spawn_await: { job_ids: "a1.1,a1.2" }
    - expect: { contains: ["[a1.1: OK]", "[a1.2: ERROR]"] }
      ${USAGE}
      text: Led.
  a1.1:
    - ${USAGE}
      calls:
        - write_file: { path: out/new.txt, content: "one\\n" }
    - ${USAGE}
      text: Written.
  a1.2:
    - fail: { code: auth, message: no entry }
  a2:
    - ${USAGE}
      calls:
        - spawn: { task: Read it }
    - ${USAGE}
      text: Not yet.
    - expect: { contains: ["had not asked for", "[a2.1: OK]", It says alpha.] }
      ${USAGE}
      text: Led too.
  a2.1:
    - ${USAGE}
      delay_ms: 20
      calls:
        - read_file: { path: a.txt }
    - ${USAGE}
      delay_ms: 20
      text: It says alpha.
`,
  ends: { a1: 'completed', 'a1.1': 'completed', 'a1.2': 'error', a2: 'completed', 'a2.1': 'completed' },
  files: { 'a.txt': 'alpha\nbeta\n', 'out/new.txt': 'one\n' },
}

export const TREE_SETTINGS = {
  mode: 'dangerous' as const,
  model: { name: 'scripted/script.yaml', source: 'user' as const },
  delegation: { profiles: { lead: { can_spawn_children: true } } },
}

export function treeProject(script: string, finished?: WhenFinished): string {
  return makeProject({ 'script.yaml': script, ...FILES }, finished ? { finished } : {})
}
