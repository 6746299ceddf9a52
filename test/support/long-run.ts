import { makeProject, type WhenFinished } from './project.js'

/**
 * A run of more than 30 events that reads, writes, runs commands and commits. After each call that nobody can check
 * from outside, the script is ready to be told that it was interrupted, and mends what there is to mend.
 */
const SCRIPT = `
agents:
  root:
    - text: Looking.
      calls:
        - list_dir: {}
        - read_file: { path: a.txt }
        - search_files: { pattern: alpha }
    - expect: { contains: alpha }
      calls:
        - write_file: { path: out/new.txt, content: "one\\ntwo\\n" }
    - calls:
        - edit_file: { path: a.txt, old_text: alpha, new_text: omega }
        - edit_file: { path: out/new.txt, old_text: two, new_text: three }
    - calls:
        - run_command: { command: "echo ran >> ran.log; cat ran.log" }
    - branches:
        - when: { contains: Interrupted }
          steps:
            - calls:
                - run_command: { command: "test -s ran.log || echo ran >> ran.log; cat ran.log" }
        - steps: []
    - expect: { matches: "\\\\bran\\\\b" }
      calls:
        - read_file: { path: out/new.txt }
        - find_files: { pattern: "*.txt" }
    - expect: { contains: three }
      calls:
        - git_commit: { message: Work, paths: [a.txt, out/new.txt] }
    - branches:
        - when: { contains: Interrupted }
          steps:
            - calls:
                - git_status: {}
        - steps: []
    - calls:
        - git_log: { limit: 2 }
        - read_file: { path: a.txt }
    - expect: { contains: [Work, omega] }
      text: "All done."
`

export function longRunProject(finished?: WhenFinished): string {
  return makeProject(
    { 'script.yaml': SCRIPT, 'a.txt': 'alpha\nbeta\n', '.gitignore': 'ran.log\n' },
    { git: true, ...(finished ? { finished } : {}) },
  )
}
