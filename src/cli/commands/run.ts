import { nearest, type Retinue, RetinueError, type RunOptions } from '../../index.js'
import { canAsk } from '../audience.js'
import { asked, type ContractFlags, contractFlags } from '../contract-flags.js'
import { refuseToDetach } from '../detach.js'
import { drive } from '../drive.js'
import { EXIT } from '../exit.js'
import { readStdin } from '../input.js'
import { type WorkOptions, withRetinue } from '../open.js'
import { offerTrust } from '../trust.js'
import { refuseWindow, type WindowFlags, withWindow } from '../window.js'
import { type PlanFlags, planForGoal, refuseFile } from './plan.js'
import { resumeRun } from './resume.js'

type RunFlags = WorkOptions &
  WindowFlags &
  ContractFlags &
  PlanFlags & { plan?: boolean; continue?: boolean; resume?: string }

const COMMANDS = [
  ...['run', 'resume', 'runs', 'show', 'watch', 'cancel', 'replay', 'diff', 'apply', 'discard', 'worktrees', 'gc'],
  ...['adopt', 'demo', 'doctor', 'init', 'mcp', 'help', 'chat', 'agents', 'audit', 'plan', 'pause', 'answer', 'serve'],
  ...['worker', 'workers'],
]

export async function run(words: string[], flags: RunFlags): Promise<number> {
  const task = await taskFrom(words)
  refuseWindow(flags)
  refuseToDetach(flags)
  if (flags.plan !== true) refuseForPlans(flags)
  else if (task !== null) await refuseFile(task)
  if (canAsk(flags) && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, async (retinue) => {
    const earlier = await earlierRun(retinue, flags)
    if (flags.plan) {
      if (task === null) throw new RetinueError('input', 'Say what the goal is: retinue "goal" --plan')
      const session = earlier ? { session_id: earlier.session_id } : {}
      return withWindow(retinue, flags, (to) => planForGoal(retinue, task, to, { ...session, left: EXIT.failed }))
    }
    if (earlier && task === null) {
      if (earlier.status === 'closed') {
        throw new RetinueError('input', `Run ${earlier.run_id} is closed. Give a task to go on with its session.`)
      }
      const given = contractFlags(flags)
      if (given.length > 0) {
        throw new RetinueError(
          'input',
          `Run ${earlier.run_id} goes on under the contract it has: leave out ${given.join(', ')}, or give a task`,
        )
      }
      return withWindow(retinue, flags, (to) => resumeRun(retinue, earlier.run_id, to))
    }
    if (task === null) throw new RetinueError('input', 'Say what is to be done: retinue "task", or retinue --help')
    const options: RunOptions = { task, ...asked(flags), ...(earlier ? { session_id: earlier.session_id } : {}) }
    return withWindow(retinue, flags, (to) =>
      drive(retinue, to, (watching) => retinue.run({ ...options, ...watching })),
    )
  })
}

/** Whoever says --yes to a run without a plan might think that nothing would be asked. */
function refuseForPlans({ yes, research }: RunFlags): void {
  const given = [...(yes ? ['--yes'] : []), ...(research === undefined ? [] : ['--research'])]
  if (given.length > 0)
    throw new RetinueError('input', `${given.join(' and ')} is for plans: add --plan, or leave it out`)
}

async function earlierRun(retinue: Retinue, flags: RunFlags) {
  if (flags.resume !== undefined) return retinue.find(flags.resume)
  if (!flags.continue) return null
  // A database has the runs of many folders.
  const last = (await retinue.store.runs()).find(({ workspace_root }) => workspace_root === retinue.cwd)
  if (!last) throw new RetinueError('not_found', 'There is no session to continue in this folder')
  return retinue.find(last.run_id)
}

/** The task from the words of the command line, `-` standing for what comes on stdin; stdin alone where there are none. */
async function taskFrom(words: string[]): Promise<string | null> {
  const [first] = words
  // A task is a sentence, in quotes or of many words; `shwo abc` is neither.
  if (first !== undefined && words.length <= 2) refuseTypo(first)
  if (words.length === 0 && process.stdin.isTTY) return null
  if (words.length > 0 && !words.includes('-')) return words.join(' ')
  const input = await readStdin()
  const task = words.length === 0 ? input : words.map((word) => (word === '-' ? input : word)).join(' ')
  return task.trim() === '' ? null : task
}

/** What other programs call these. */
const OTHER_NAMES: Record<string, string> = {
  list: 'runs',
  ls: 'runs',
  status: 'runs',
  log: 'show',
  logs: 'show',
  stop: 'cancel',
  merge: 'apply',
  clean: 'gc',
  prune: 'gc',
  version: '--version',
}

/** `retinue rums` is a slip, not a task: starting a paid run on it would be a poor joke. */
function refuseTypo(word: string): void {
  if (/\s/.test(word)) return
  const meant = OTHER_NAMES[word] ?? nearest(word, COMMANDS)
  if (meant === word) {
    throw new RetinueError(
      'input',
      `"${word}" is a command, and its options stand behind it: retinue ${word} …. If it is a task, say it in more words.`,
    )
  }
  if (meant) {
    throw new RetinueError('input', `"${word}" looks like "${meant}". If it is a task, say it in more words.`)
  }
}
