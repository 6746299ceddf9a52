import { z } from 'zod'
import { type PlanState, plural, type StepSpec, type StepState } from '../domain/index.js'
import type { Job } from './delegation.js'
import {
  delegationPlan,
  delegatorOf,
  type Forwards,
  labelParameter,
  taskParameter,
  textOf,
} from './delegation-request.js'
import { adjustmentNotes, reasonRoom, type Section, sectionsText, statusOf } from './delegation-text.js'
import { oneLine } from './text.js'
import { defineTool, type Tool, type ToolContext, type ToolOutput } from './tool.js'

/** Seed 002's: one that breaks a task into more parts than this has not understood it. */
const MAX_SUBTASKS = 5

type Subtask = { task: string; scope?: string | undefined; depends_on?: number | undefined; label?: unknown }

/** How a subtask ended. `skipped`: why it was never started. `refused`: why it could not be. */
type End = { job: Job; notes: string[] } | { job: null; status: 'SKIPPED' | 'ERROR' | 'RUNNING'; why: string }

export function delegateTask(forwards: Forwards): Tool {
  return defineTool({
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
          ...labelParameter(forwards),
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
      const delegator = delegatorOf(context)
      const { call_id, signal } = context
      const about = `This is one part of a larger task: ${args.plan}`
      const state = await delegator.plans.carryOut({ call_id, delegator, signal }, args.subtasks.map(stepOf), about)
      const ends = state.steps.map((step) => endOf(step, state, delegator.jobs()))
      return report(args.plan, args.subtasks, ends, context)
    },
  })
}

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

function stepOf({ task, scope, depends_on, label }: Subtask, i: number): StepSpec {
  const needs = textOf(label)
  const after = depends_on === undefined ? [] : [String(depends_on)]
  return {
    id: String(i),
    stage: 'work',
    title: oneLine(task),
    description: task.trim(),
    agent: null,
    depends_on: after,
    inputs: after,
    // They are begun side by side, and who writes takes turns with the others.
    owns: null,
    success_criteria: [],
    checks: [],
    budget: {},
    needs_approval: false,
    retries: 0,
    ...(scope?.trim() ? { scope: scope.trim() } : {}),
    ...(needs === undefined ? {} : { label: needs }),
  }
}

function endOf(step: StepState, { steps }: PlanState, jobs: readonly Job[]): End {
  const job = jobs.find(({ id }) => id === step.ended?.sub_agent_id)
  if (job?.closed) return { job, notes: adjustmentNotes(job.adjustments) }
  const why = step.ended?.reason ?? ''
  if (step.attempts.length > 0) return { job: null, status: step.ended?.status === 'failed' ? 'ERROR' : 'RUNNING', why }
  const [before] = step.depends_on
  const unmet = before !== undefined && steps.find(({ id }) => id === before)?.ended?.status !== 'completed'
  const failed = steps.find(({ ended }) => ended?.status === 'failed')
  const reason = unmet
    ? `subtask ${before}, which it depends on, has no result`
    : failed
      ? `subtask ${failed.id} failed`
      : 'the call was stopped'
  return { job: null, status: 'SKIPPED', why: `not started: ${reason}` }
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
