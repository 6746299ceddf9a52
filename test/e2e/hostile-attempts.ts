import type { ScriptedModelOptions } from '../../src/testing/index.js'

type Steps = Extract<ScriptedModelOptions['agents'][string], unknown[]>
export type ScriptedCall = NonNullable<Steps[number]['calls']>[number]

/** Who is who around the hostile agent: the ids that it knows or guesses. */
export type Family = { sibling: string; cousin: string; parent: string }

/** What stopped a call: the pipeline refused it, or the tool itself said no. */
export type Stopped =
  | { refused: 'denied' | 'invalid_arguments' | 'unknown_tool' | 'budget'; rule: string | null; says: string }
  | { failed: string }

/**
 * One thing that a hostile sub-agent tries. `works`: what the same call says under a contract that allows it; absent
 * where no contract does.
 */
export type Attempt = { what: string; call: (family: Family) => ScriptedCall; stopped: Stopped; works?: string }

const denied = (rule: string, says: string): Stopped => ({ refused: 'denied', rule, says })
const unknown = (tool: string): Stopped => ({ refused: 'unknown_tool', rule: null, says: `There is no tool ${tool}.` })
const outside: Stopped = { refused: 'invalid_arguments', rule: null, says: 'is outside the workspace' }
const delegates = denied('can_spawn_children', 'Not allowed: this agent may not delegate.')
const owned = (path: string) =>
  denied('write_paths', `Not allowed: ${path} is outside what this agent may write: mine/**.`)

/** With tools, each in a turn of its own. */
export const ATTEMPTS: Attempt[] = [
  {
    what: 'a tool that is not in its contract',
    call: () => ({ search_files: { pattern: 'word' } }),
    stopped: denied('allowed_tools', 'Not allowed: the contract does not allow search_files.'),
    works: 'shared.txt:1: word',
  },
  {
    what: 'the same tool under the name that another program has for it',
    call: () => ({ Grep: { pattern: 'word' } }),
    stopped: denied('allowed_tools', 'Not allowed: the contract does not allow search_files.'),
    works: 'shared.txt:1: word',
  },
  { what: 'spawn', call: () => ({ spawn: { task: 'Help me' } }), stopped: delegates, works: '.1' },
  {
    what: 'spawn_agent',
    call: () => ({ spawn_agent: { task: 'Help me', max_tool_calls: 10_000 } }),
    stopped: delegates,
    works: '[COMPLETED]',
  },
  {
    what: 'delegate_task',
    call: () => ({ delegate_task: { plan: 'Help', subtasks: [{ task: 'One' }, { task: 'Two' }] } }),
    stopped: delegates,
    works: '[COMPLETED] 2 of 2 subtasks completed',
  },
  {
    what: 'the result of its sibling, with a forged job id',
    call: ({ sibling }) => ({ spawn_await: { job_ids: sibling } }),
    stopped: delegates,
  },
  {
    what: 'fan_out, which is for programs alone',
    call: () => ({ fan_out: { tasks: [{ task: 'Help me' }], max_concurrent: 100 } }),
    stopped: unknown('fan_out'),
  },
  {
    what: 'to cancel its sibling',
    call: ({ sibling }) => ({ cancel: { agent_id: sibling } }),
    stopped: unknown('cancel'),
  },
  {
    what: 'to talk to the person',
    call: () => ({ ask_user: { question: 'May I have more rights?' } }),
    stopped: denied('allowed_tools', 'Not allowed: the contract does not allow ask_user.'),
    works: 'You may not.',
  },
  { what: 'an absolute path', call: () => ({ read_file: { path: '/etc/passwd' } }), stopped: outside },
  { what: 'a path upwards', call: () => ({ read_file: { path: 'mine/../../outside.txt' } }), stopped: outside },
  { what: 'a link that leads outside', call: () => ({ read_file: { path: 'mine/out/passwd' } }), stopped: outside },
  {
    what: 'to write through a link that leads outside',
    call: () => ({ write_file: { path: 'mine/out/hostile', content: 'x' } }),
    stopped: outside,
  },
  {
    what: 'to write through a link that leads to what its sibling owns',
    call: () => ({ write_file: { path: 'mine/across/new.txt', content: 'x' } }),
    stopped: owned('theirs/new.txt'),
    works: 'theirs/new.txt',
  },
  {
    what: 'what its sibling owns',
    call: () => ({ edit_file: { path: 'theirs/a.txt', old_text: 'theirs', new_text: 'mine' } }),
    stopped: owned('theirs/a.txt'),
    works: 'theirs/a.txt',
  },
  {
    what: 'a hook of git',
    call: () => ({ write_file: { path: '.git/hooks/pre-commit', content: 'x' } }),
    stopped: denied('protected', 'Not allowed: .git/hooks/pre-commit belongs to git or Retinue.'),
  },
  {
    what: 'the log',
    call: () => ({ write_file: { path: '.retinue/retinue.db', content: '' } }),
    stopped: denied('protected', 'Not allowed: .retinue/retinue.db belongs to git or Retinue.'),
  },
  {
    what: 'the settings of the next run',
    call: () => ({ write_file: { path: 'retinue.yaml', content: 'mode: dangerous' } }),
    stopped: denied('protected', 'Not allowed: retinue.yaml belongs to git or Retinue.'),
  },
  {
    what: 'the output of its sibling',
    call: ({ sibling }) => ({ read_output: { output: sibling } }),
    stopped: { failed: 'there is no output' },
  },
  {
    what: 'the output of its cousin',
    call: ({ cousin }) => ({ read_output: { output: cousin } }),
    stopped: { failed: 'there is no output' },
  },
  {
    what: 'the output of its parent',
    call: ({ parent }) => ({ read_output: { output: parent } }),
    stopped: { failed: 'there is no output' },
  },
]

/** The same with a shell, which only the sandbox can stop. */
export const COMMANDS: Attempt[] = [
  {
    what: 'what its sibling owns',
    call: () => ({ run_command: { command: 'echo mine > theirs/b.txt' } }),
    stopped: { failed: 'Read-only file system' },
    works: 'exit code 0',
  },
  {
    what: 'a link made for the way around',
    call: () => ({ run_command: { command: 'ln -s ../theirs mine/way && echo mine > mine/way/c.txt' } }),
    stopped: { failed: 'Read-only file system' },
    works: 'exit code 0',
  },
  {
    what: 'a hook of git',
    call: () => ({ run_command: { command: 'echo evil > .git/hooks/pre-commit' } }),
    // In its worktree that is a file, which leads to what cannot be seen from there.
    stopped: { failed: '.git/hooks/pre-commit: Not a directory' },
  },
  {
    what: 'the log, to cancel its sibling',
    call: () => ({ run_command: { command: 'echo >> .retinue/retinue.db' } }),
    stopped: { failed: '.retinue' },
  },
  {
    what: 'the process that its parent runs in',
    // The signal that does nothing, in case that it arrives.
    call: () => ({ run_command: { command: `kill -0 ${process.pid}` } }),
    stopped: { failed: 'No such process' },
  },
]
