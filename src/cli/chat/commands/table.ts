import {
  type Command,
  defineCommand,
  findCommand,
  MODES,
  noArguments,
  type PrincipalRole,
  RetinueError,
  wordsOf,
} from '../../../index.js'
import type { Room } from '../room.js'
import { awaitTasks, spawn, stop, tasks } from './background.js'
import { mode, model } from './choices.js'
import { clear, exit, plan, resume } from './conversation.js'
import { costs, mcp, runs, show, skills } from './looking.js'

type Answer = { text: string; data: unknown }

/** How the chat goes about a command, besides what it does. */
type Manners = {
  /** It is done while an answer is under way, though it changes something; so is what only looks. */
  at_once?: boolean
  /** It takes as long as work does: it waits for its turn, and can be interrupted. */
  long?: boolean
  /** What may stand after its name. */
  values?: () => readonly string[]
}

export type ChatCommand = Command & Manners

/** What the chat has to know of a line before it is its turn. */
export function mannersOf(room: Room, line: string): { at_once: boolean; long: boolean } {
  const found = findCommand(room.control.commands(chatCommands(room, NEVER)), line)
  if (!found.ok) return { at_once: false, long: false }
  const { at_once = false, long = false } = found.command as ChatCommand
  const prepared = found.command.prepare(found.given)
  return { at_once: at_once || (!long && prepared.ok && prepared.looks), long }
}

const NEVER = new AbortController().signal

/** The commands of the chat besides those that the control plane has. `signal`: the person does not want to wait. */
export function chatCommands(room: Room, signal: AbortSignal): ChatCommand[] {
  const none = { least: 'viewer' as const, parse: noArguments }
  const ids = () => room.tasks.ids
  const looking = { ...none, looks: true }
  return [
    define('spawn', '/spawn [@handle] <task>', '/spawn @writer Document the options', {
      ...{ summary: 'begin a task in the background', least: 'operator', parse: text('Say what is to be done.') },
      ...{ at_once: true, long: true, run: (task: string) => spawn(room, task, signal) },
    }),
    define('tasks', '/tasks', '/tasks', {
      ...{ ...looking, summary: 'what works in the background' },
      run: () => tasks(room),
    }),
    define('await', '/await [t1 ...]', '/await t1', {
      ...{ summary: 'wait for tasks and show their results', least: 'viewer', looks: true, parse: words(0, 100) },
      ...{ long: true, values: ids, run: (names: string[]) => awaitTasks(room, names, signal) },
    }),
    define('stop', '/stop <t1 ...|all>', '/stop t1', {
      ...{ summary: 'cancel tasks', least: 'operator', parse: words(1, 100, 'Say which: t1, or all.') },
      ...{ at_once: true, values: () => [...ids(), 'all'], run: (names: string[]) => stop(room, names) },
    }),
    define('plan', '/plan <goal>', '/plan Move the tests to vitest', {
      ...{ summary: 'one message in plan mode: it looks and writes nothing', least: 'operator' },
      ...{ parse: text('Say what is to be planned.'), long: true, run: (goal: string) => plan(room, goal, signal) },
    }),
    define('model', '/model [provider/model]', '/model anthropic/claude-sonnet-4-5', {
      ...{
        summary: 'the model of this session',
        least: (given: string[]) => (given.length > 0 ? 'operator' : 'viewer'),
      },
      ...{ looks: isEmpty, parse: words(0, 1), run: ([name]: string[]) => model(room, name) },
    }),
    define('mode', '/mode [plan|normal|auto|dangerous]', '/mode auto', {
      ...{
        summary: 'what may happen without asking',
        least: (given: string[]) => (given.length > 0 ? 'operator' : 'viewer'),
      },
      ...{ looks: isEmpty, parse: words(0, 1), values: () => MODES, run: ([name]: string[]) => mode(room, name) },
    }),
    define('skills', '/skills', '/skills', { ...looking, summary: 'skills that there are', run: () => skills(room) }),
    define('mcp', '/mcp', '/mcp', { ...looking, summary: 'MCP servers and their tools', run: () => mcp(room) }),
    define('cost', '/cost', '/cost', { ...looking, summary: 'what this session has spent', run: () => costs(room) }),
    define('runs', '/runs', '/runs', { ...looking, summary: 'the runs of this folder', run: () => runs(room) }),
    define('show', '/show [run|t1] [agent]', '/show t1 a1', {
      ...{ summary: 'what happened in a run; the last one here if none is named', least: 'viewer', looks: true },
      ...{ parse: words(0, 2), values: ids, run: ([run, agent]: string[]) => show(room, run, agent) },
    }),
    define('resume', '/resume [run|t1]', '/resume t1', {
      ...{ summary: 'go on with what was interrupted', least: 'operator', parse: words(0, 1) },
      ...{ long: true, values: ids, run: ([name]: string[]) => resume(room, name, signal) },
    }),
    define('clear', '/clear', '/clear', { ...none, summary: 'begin a new session', run: () => clear(room) }),
    // Nothing is changed by leaving, and whoever cannot write the log can leave too.
    define('exit', '/exit', '/exit', {
      ...looking,
      summary: 'leave; what is at work can be resumed',
      run: () => exit(room),
    }),
  ]
}

type Rest<A> = Manners & {
  summary: string
  least: PrincipalRole | ((args: A) => PrincipalRole)
  looks?: boolean | ((args: A) => boolean)
  parse: (given: string) => { ok: true; args: A } | { ok: false; message: string }
  run: (args: A) => Promise<Answer>
}

/** What is expected to go wrong is thrown below, and told as what became of the command. */
function define<A>(name: string, usage: string, example: string, rest: Rest<A>): ChatCommand {
  const { run, at_once, long, values, ...spec } = rest
  const manners: Manners = { ...(at_once && { at_once }), ...(long && { long }), ...(values && { values }) }
  const command = defineCommand<A>({
    ...{ name, usage, example, ...spec },
    run: async (args) => {
      try {
        return { ok: true, ...(await run(args)) }
      } catch (error) {
        if (!(error instanceof RetinueError)) throw error
        const { code, message } = error
        const known = code === 'denied' || code === 'not_found' || code === 'conflict' || code === 'corrupt'
        return { ok: false, code: known ? code : 'input', message }
      }
    },
  })
  return { ...command, ...manners }
}

/** Without a name they say what is chosen. */
function isEmpty(given: readonly string[]): boolean {
  return given.length === 0
}

function text(missing: string) {
  return (given: string) =>
    given === '' ? { ok: false as const, message: missing } : { ok: true as const, args: given }
}

function words(least: number, most: number, missing = 'Something is missing.') {
  return (given: string) => {
    const args = wordsOf(given)
    if (args.length < least) return { ok: false as const, message: missing }
    if (args.length > most) return { ok: false as const, message: `${args[most]} is one too many.` }
    return { ok: true as const, args }
  }
}
