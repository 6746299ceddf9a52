import { type Command, defineCommand, noArguments, type PrincipalRole, RetinueError, wordsOf } from '../../../index.js'
import type { Room } from '../room.js'
import { awaitTasks, spawn, stop, tasks } from './background.js'
import { mode, model } from './choices.js'
import { clear, exit, plan, resume } from './conversation.js'
import { costs, mcp, runs, show, skills } from './looking.js'

type Answer = { text: string; data: unknown }

/** Commands that are done at once while an answer is under way: they say nothing in the conversation. */
const AT_ONCE = ['help', 'tasks', 'spawn', 'stop', 'cost', 'runs', 'show', 'skills', 'mcp', 'exit']

export function isDoneAtOnce(line: string): boolean {
  const [first = '', second] = line.slice(1).split(/\s+/)
  return AT_ONCE.includes(first) || (first === 'agents' && (second === undefined || second === '' || second === 'show'))
}

/** Commands that take as long as work does, and can be interrupted. */
export function takesLong(line: string): boolean {
  return /^\/(await|plan|resume)(\s|$)/.test(line)
}

/** The commands of the chat besides those that the control plane has. `signal`: the person does not want to wait. */
export function chatCommands(room: Room, signal: AbortSignal): Command[] {
  const none = { least: 'viewer' as const, parse: noArguments }
  return [
    define('spawn', '/spawn [@handle] <task>', '/spawn @writer Document the options', {
      ...{ summary: 'begin a task in the background', least: 'operator', parse: text('Say what is to be done.') },
      run: (task) => spawn(room, task),
    }),
    define('tasks', '/tasks', '/tasks', {
      ...{ ...none, summary: 'what works in the background' },
      run: () => tasks(room),
    }),
    define('await', '/await [t1 ...]', '/await t1', {
      ...{ summary: 'wait for tasks and show their results', least: 'viewer', parse: words(0, 100) },
      run: (names) => awaitTasks(room, names, signal),
    }),
    define('stop', '/stop <t1 ...|all>', '/stop t1', {
      ...{ summary: 'cancel tasks', least: 'operator', parse: words(1, 100, 'Say which: t1, or all.') },
      run: (names) => stop(room, names),
    }),
    define('plan', '/plan <goal>', '/plan Move the tests to vitest', {
      ...{ summary: 'one message in plan mode: it looks and writes nothing', least: 'operator' },
      ...{ parse: text('Say what is to be planned.'), run: (goal: string) => plan(room, goal, signal) },
    }),
    define('model', '/model [provider/model]', '/model anthropic/claude-sonnet-4-5', {
      ...{
        summary: 'the model of this session',
        least: (given: string[]) => (given.length > 0 ? 'operator' : 'viewer'),
      },
      ...{ parse: words(0, 1), run: ([name]: string[]) => model(room, name) },
    }),
    define('mode', '/mode [plan|normal|auto|dangerous]', '/mode auto', {
      ...{
        summary: 'what may happen without asking',
        least: (given: string[]) => (given.length > 0 ? 'operator' : 'viewer'),
      },
      ...{ parse: words(0, 1), run: ([name]: string[]) => mode(room, name) },
    }),
    define('skills', '/skills', '/skills', { ...none, summary: 'skills that there are', run: () => skills(room) }),
    define('mcp', '/mcp', '/mcp', { ...none, summary: 'MCP servers and their tools', run: () => mcp(room) }),
    define('cost', '/cost', '/cost', { ...none, summary: 'what this session has spent', run: () => costs(room) }),
    define('runs', '/runs', '/runs', { ...none, summary: 'the runs of this folder', run: () => runs(room) }),
    define('show', '/show [run|t1] [agent]', '/show t1 a1', {
      ...{ summary: 'what happened in a run; the last one here if none is named', least: 'viewer' },
      ...{ parse: words(0, 2), run: ([run, agent]: string[]) => show(room, run, agent) },
    }),
    define('resume', '/resume [run|t1]', '/resume t1', {
      ...{ summary: 'go on with what was interrupted', least: 'operator', parse: words(0, 1) },
      run: ([name]) => resume(room, name, signal),
    }),
    define('clear', '/clear', '/clear', { ...none, summary: 'begin a new session', run: () => clear(room) }),
    define('exit', '/exit', '/exit', {
      ...none,
      summary: 'leave; what is at work can be resumed',
      run: () => exit(room),
    }),
  ]
}

type Rest<A> = {
  summary: string
  least: PrincipalRole | ((args: A) => PrincipalRole)
  parse: (given: string) => { ok: true; args: A } | { ok: false; message: string }
  run: (args: A) => Promise<Answer>
}

/** What is expected to go wrong is thrown below, and told as what became of the command. */
function define<A>(name: string, usage: string, example: string, { run, ...rest }: Rest<A>): Command {
  return defineCommand<A>({
    ...{ name, usage, example, ...rest },
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
