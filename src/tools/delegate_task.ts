import { z } from 'zod'
import type { Job } from './delegation.js'
import { delegationPlan, delegatorOf, taskParameter } from './delegation-request.js'
import {
  adjustmentNotes,
  inputText,
  reasonRoom,
  type Section,
  sectionsText,
  statusOf,
  succeeded,
} from './delegation-text.js'
import { oneLine, plural } from './text.js'
import { defineTool, type ToolContext, type ToolOutput } from './tool.js'

/** Seed 002's: one that breaks a task into more parts than this has not understood it. */
const MAX_SUBTASKS = 5

type Subtask = { task: string; scope?: string | undefined; depends_on?: number | undefined }

/** How a subtask ended. `skipped`: why it was never started. `refused`: why it could not be. */
type End = { job: Job; notes: string[] } | { job: null; status: 'SKIPPED' | 'ERROR' | 'RUNNING'; why: string }

export const delegateTask = defineTool({
  name: 'delegate_task',
  effect: 'delegate',
  repeatable: true,
  description: () =>
    `Runs 2 to ${MAX_SUBTASKS} subtasks of a plan, a sub-agent each, side by side, and returns one report; stops on error. ` +
    'depends_on: index from 0 of an earlier subtask whose result it needs.',
  parameters: z.strictObject({
    plan: z.string(),
    subtasks: z.array(
      z.strictObject({
        task: taskParameter,
        scope: z.string().optional(),
        depends_on: z.int().optional(),
      }),
    ),
  }),
  plan: async (args, context) => {
    const fault = faultOf(args.subtasks)
    if (fault !== null) return { ok: false, message: fault }
    const summary = `delegate ${plural(args.subtasks.length, 'subtask')}: ${oneLine(args.plan)}`
    const detail = [args.plan, ...args.subtasks.map(({ task }, i) => `${i}: ${task}`)].join('\n')
    return delegationPlan(context, { summary, detail })
  },
  execute: async (args, context) => {
    const ends = await runAll(args.plan, args.subtasks, context)
    return report(args.plan, args.subtasks, ends, context)
  },
})

function faultOf(subtasks: readonly Subtask[]): string | null {
  if (subtasks.length === 0) return 'subtasks: must not be empty'
  if (subtasks.length > MAX_SUBTASKS) {
    return `Maximum ${MAX_SUBTASKS} subtasks, got ${subtasks.length}: put some together, or call delegate_task again afterwards`
  }
  for (const [i, { depends_on }] of subtasks.entries()) {
    if (depends_on === undefined || (depends_on >= 0 && depends_on < i)) continue
    const what =
      i === 0 ? 'the first subtask can depend on none' : `expected the index of an earlier one, 0 to ${i - 1}`
    return `subtasks[${i}].depends_on: ${what}, got ${depends_on}`
  }
  return null
}

/** Each starts as soon as what it depends on is done; after an error none starts any more. */
async function runAll(plan: string, subtasks: readonly Subtask[], context: ToolContext): Promise<End[]> {
  const delegator = delegatorOf(context)
  const { call_id, signal } = context
  let failed: number | null = null
  // One is created after the other, so that their ids are in their order and a refusal stops the next.
  let creating: Promise<unknown> = Promise.resolve()
  const ends: Promise<End>[] = []

  const failing = (i: number, end: End): End => {
    failed ??= i
    return end
  }
  /** After a restart: a subtask that was started is waited for, whatever the others came to meanwhile. */
  const exists = (i: number) => delegator.jobs().some((job) => job.call_id === call_id && job.index === i)

  const create = (i: number, before: Job | null) => {
    const { task, scope } = subtasks[i] as Subtask
    const made = creating.then(() => {
      if (!exists(i) && (failed !== null || signal.aborted)) return null
      return delegator.spawn(call_id, i, {
        task: task.trim(),
        context: `This is one part of a larger task: ${plan}`,
        ...(scope?.trim() ? { scope: scope.trim() } : {}),
        ...(before?.closed ? { inputs: [inputOf(before, before.closed)] } : {}),
      })
    })
    creating = made.catch(() => {})
    return made
  }

  const run = async (i: number, depends_on: number | undefined): Promise<End> => {
    const before = depends_on === undefined ? null : await (ends[depends_on] as Promise<End>)
    if (before && !(before.job?.closed && succeeded(before.job.closed))) {
      return skipped(`subtask ${depends_on}, which it depends on, has no result`)
    }
    const spawned = await create(i, before?.job ?? null)
    if (!spawned) return skipped(failed === null ? 'the call was stopped' : `subtask ${failed} failed`)
    if (!spawned.ok) return failing(i, { job: null, status: 'ERROR', why: spawned.message })
    const job = (await delegator.wait([spawned.id]))[0]
    if (!job?.closed)
      return { job: null, status: 'RUNNING', why: `${spawned.id} was at work when the call was stopped` }
    const end = { job, notes: adjustmentNotes(spawned.adjustments) }
    return succeeded(job.closed) ? end : failing(i, end)
  }

  for (const [i, { depends_on }] of subtasks.entries()) ends.push(run(i, depends_on))
  return Promise.all(ends)
}

function skipped(why: string): End {
  return { job: null, status: 'SKIPPED', why: `not started: ${why}` }
}

function inputOf({ id, title }: Job, { result }: NonNullable<Job['closed']>) {
  return { from: id, title, outcome: result.outcome, text: inputText(result.text) }
}

function report(plan: string, subtasks: readonly Subtask[], ends: readonly End[], context: ToolContext): ToolOutput {
  const room = reasonRoom(context.limits.output_chars, ends.length)
  const sections = ends.map((end, i): Section => {
    const name = `subtask ${i}${end.job ? `, ${end.job.id}` : ''}: ${oneLine((subtasks[i] as Subtask).task)}`
    if (!end.job?.closed) return { heads: [`[${wordOf(end)}] ${name}`, 'why' in end ? end.why : ''], job: null }
    const { word, why } = statusOf(end.job.closed, room)
    return { heads: [`[${word}] ${name}`, ...(why ? [why] : [])], job: end.job, notes: end.notes }
  })
  const words = ends.map(wordOf)
  const ok = words.every((word) => word === 'COMPLETED' || word === 'INCOMPLETE')
  const overall = ok ? (words.includes('INCOMPLETE') ? 'INCOMPLETE' : 'COMPLETED') : 'ERROR'
  const done = words.filter((word) => word === 'COMPLETED').length
  const first = `[${overall}] ${done} of ${plural(subtasks.length, 'subtask')} completed\nPlan: ${oneLine(plan, 500)}`
  return {
    ok,
    content: `${first}\n\n${sectionsText(sections, context.limits.output_chars - first.length - 2)}`,
    delivers: ends.flatMap(({ job }) => (job ? [job.id] : [])),
  }
}

function wordOf(end: End): string {
  return end.job?.closed ? statusOf(end.job.closed, 0).word : 'status' in end ? end.status : 'RUNNING'
}
