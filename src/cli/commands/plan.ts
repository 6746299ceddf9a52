import { nearest, type Retinue, RetinueError } from '../../index.js'
import { canAsk, isAsked } from '../audience.js'
import type { ContractFlags } from '../contract-flags.js'
import { refuseToDetach } from '../detach.js'
import { type DriveOptions, drive } from '../drive.js'
import { EXIT } from '../exit.js'
import { readStdin } from '../input.js'
import { type WorkOptions, withRetinue } from '../open.js'
import { planDriving } from '../plan/driving.js'
import { planOptions, type ResearchFlags, researchOf } from '../plan/flags.js'
import { isFile } from '../plan/source.js'
import { offerTrust } from '../trust.js'

export type PlanFlags = WorkOptions & DriveOptions & ContractFlags & ResearchFlags & { yes?: boolean }

const COMMANDS = ['make', 'run', 'show', 'edit', 'list', 'check']

/** What other programs call these. */
const OTHER_NAMES: Record<string, string> = {
  ls: 'list',
  execute: 'run',
  apply: 'run',
  validate: 'check',
  view: 'show',
}

/** Makes a plan for a goal, and carries it out where somebody says yes to it. */
export async function planMake(words: string[], flags: PlanFlags): Promise<number> {
  const goal = await goalFrom(words, flags)
  refuseToDetach(flags)
  if (canAsk(flags) && !(await offerTrust(flags))) return EXIT.interrupted
  return withRetinue(flags, (retinue) => planForGoal(retinue, goal, flags))
}

/**
 * Where nobody can be asked and nobody said yes before, the plan is all that is made. `left`: the exit code for that, and
 * `session_id` the conversation that it belongs to.
 */
export function planForGoal(
  retinue: Retinue,
  goal: string,
  flags: PlanFlags,
  more: { left?: number; session_id?: string } = {},
): Promise<number> {
  const { left, ...session } = more
  const options = planOptions(flags)
  const asks = isAsked(flags)
  const execute = flags.yes === true || asks
  const approve = flags.yes === true ? ('yes' as const) : ('ask' as const)
  const driving: DriveOptions = {
    ...flags,
    ...planDriving(retinue, { ...flags, as: options, ...(left === undefined || execute ? {} : { left }) }),
  }
  const wanted = { ...options, ...session, research: researchOf(flags), execute, approve }
  return drive(retinue, driving, (watching) => retinue.planForGoal(goal, { ...wanted, ...watching }))
}

async function goalFrom(words: string[], flags: PlanFlags): Promise<string> {
  const [first] = words
  if (words.length === 1) await refuseFile(first as string)
  if (first !== undefined && words.length <= 2 && !/\s/.test(first)) refuseTypo(first)
  const input = words.includes('-') || (words.length === 0 && process.stdin.isTTY !== true) ? await readStdin() : ''
  const goal = words.length === 0 ? input : words.map((word) => (word === '-' ? input : word)).join(' ')
  if (goal.trim() !== '') return goal
  const taken = Array.isArray(flags.research) ? flags.research.findLast((question) => question !== true) : undefined
  const hint = taken === undefined ? '' : `; --research took "${taken}" as its question, so put the goal before it`
  throw new RetinueError('input', `Say what the goal is: retinue plan "goal"${hint}`)
}

/** Whoever names a plan file has a plan already. */
export async function refuseFile(goal: string): Promise<void> {
  if (goal === '-' || !(await isFile(goal))) return
  throw new RetinueError('input', `${goal} is a file and no goal: did you mean: retinue plan run ${goal}`)
}

/** `retinue plan lsit` is a slip, not a goal. */
function refuseTypo(word: string): void {
  const meant = OTHER_NAMES[word] ?? nearest(word, COMMANDS)
  if (meant && meant !== word) {
    throw new RetinueError('input', `"${word}" looks like "plan ${meant}". If it is a goal, say it in more words.`)
  }
}
