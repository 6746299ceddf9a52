import {
  type AgentMemory,
  type AgentResult,
  type Budget,
  type Child,
  type Contract,
  type Mode,
  PROGRAM,
  type Profile,
  ROOT_BUDGET,
  titleOf,
} from '../../domain/index.js'
import type { Model } from '../../models/index.js'
import { FAN_OUT_STOPPED, type FanOutReport } from '../../tools/index.js'
import type { RunOptions, Settings, SpawnResult, SpawnTask } from '../api.js'
import { orderIn, orderTask, program, resultsIn } from './programs.js'

/** Where a model would be named: the root agent of a fan-out is a program. */
export const FAN_OUT_MODEL = `${PROGRAM}/fan_out`

/** `max_concurrent`: never more than there are tasks. */
type Order = { tasks: readonly SpawnTask[]; max_concurrent: number }

const LONGEST_TITLE = 120

/** What the run is about in one line, for lists and for the contracts of its sub-agents. */
export function fanOutTitle(tasks: readonly SpawnTask[]): string {
  const [first = '', ...others] = tasks.map(({ title, task }) => titleOf(title?.trim() || task))
  if (others.length === 0) return first
  let line = `${tasks.length} tasks for sub-agents: ${first}`
  for (const [i, title] of others.entries()) {
    const longer = `${line}; ${title}`
    const rest = i < others.length - 1 ? '; …' : ''
    if (longer.length + rest.length > LONGEST_TITLE) return `${line}; …`
    line = longer
  }
  return line
}

/** The same, and the order itself as it was given. */
export function fanOutTask({ tasks, max_concurrent }: Order): string {
  return orderTask(fanOutTitle(tasks), {
    tasks,
    max_concurrent: Math.min(max_concurrent, tasks.length),
  } satisfies Order)
}

/** The root agent of a fan-out. */
export function fanOutModel(): Model {
  return program('fan_out', 'fan_out', ({ is_error }) => `${is_error ? 'Not all' : 'All'} of the tasks were completed.`)
}

/** More than a sub-agent gets that asks for nothing else. */
const TOKENS_A_TASK = 200_000

/**
 * What the root agent of a fan-out may spend. What it may do itself bounds each of its sub-agents, as everywhere; the
 * rest is for all of them together, with room for all the tasks where nobody set a limit. `given`: the later ones win.
 */
export function fanOutBudget(tasks: number, given: (Partial<Budget> | undefined)[]): Partial<Budget> {
  const asked = given.flatMap((limits) => Object.entries(limits ?? {}).filter(([, limit]) => limit !== undefined))
  const limits: Partial<Budget> = Object.fromEntries(asked)
  const { sub_agents, total_tokens } = ROOT_BUDGET
  return {
    ...limits,
    sub_agents: limits.sub_agents ?? Math.max(tasks, sub_agents),
    total_tokens:
      limits.total_tokens === undefined ? Math.max(tasks * TOKENS_A_TASK, total_tokens ?? 0) : limits.total_tokens,
    // One to make its call, one to say what came of it.
    turns: Math.max(2, limits.turns ?? ROOT_BUDGET.turns),
  }
}

/** The tasks, each with a model of its own or of its profile; the rest get the one that is `fallback`. */
export async function withModels(
  tasks: readonly SpawnTask[],
  profileOf: (name: string) => Profile | null,
  fallback: () => Promise<string>,
): Promise<SpawnTask[]> {
  const hasModel = ({ model, profile }: SpawnTask) => {
    const own = profile ? profileOf(profile) : null
    return Boolean(model ?? own?.model ?? own?.pool ?? own?.models)
  }
  if (tasks.every(hasModel)) return [...tasks]
  const model = await fallback()
  return tasks.map((task) => (hasModel(task) ? task : { ...task, model }))
}

/** Why nothing can be handed out at all, whatever the tasks; or null. */
export function fanOutObstacle({ delegation }: Pick<Settings, 'delegation'>): string | null {
  return delegation?.enabled === false ? 'Delegation is switched off in the settings (delegation.enabled: false)' : null
}

/**
 * The tasks and the mode of the program that hands them out. Plan mode is for whoever does the work, whatever a task
 * asks for itself: the program reads and writes nothing, and in plan mode it could hand out nothing.
 */
export function inMode(mode: Mode, tasks: readonly SpawnTask[]): { mode: Mode; tasks: SpawnTask[] } {
  if (mode !== 'plan') return { mode, tasks: [...tasks] }
  return { mode: 'normal', tasks: tasks.map((task) => ({ ...task, mode: 'plan' })) }
}

/** How deep delegation goes below the program: its tasks are the first level, and that one it always has. */
export function fanOutDepth(asked: RunOptions['delegation']): NonNullable<RunOptions['delegation']> {
  if (asked?.enabled === false) return { max_depth: 1 }
  return asked?.max_depth === undefined ? {} : { max_depth: Math.max(1, asked.max_depth) }
}

export function isFanOut({ model }: Contract): boolean {
  return `${model.provider}/${model.model}` === FAN_OUT_MODEL
}

/** The results in the order of the tasks, from what the root agent knows. `blob`: outputs that were too long for it. */
export async function fanOutResults(
  memory: AgentMemory,
  blob: (digest: string) => Promise<Uint8Array | null>,
): Promise<SpawnResult[]> {
  const { tasks } = JSON.parse(orderIn(memory.task)) as Order
  const report = await reportIn(memory, blob)
  const byIndex = new Map(memory.children.map((child) => [child.index, child]))
  return tasks.map((_, index) => {
    const child = byIndex.get(index)
    if (child?.closed) return childResult(memory.run_id, child, child.closed)
    const entry = report?.tasks[index]
    if (entry && 'refused' in entry && entry.refused !== FAN_OUT_STOPPED) {
      return refusedResult(memory.run_id, 'error', entry.refused)
    }
    return { ...refusedResult(memory.run_id, ...whyMissing(memory)), agent_id: child?.id ?? null }
  })
}

/** Why a task has no result and nobody refused it: the run was stopped, the whole call was refused, or it goes on. */
function whyMissing({ result, messages }: AgentMemory): [SpawnResult['outcome'], string] {
  if (!result) return ['interrupted', 'it is not closed yet']
  if (result.outcome !== 'completed') return [result.outcome, result.reason ?? result.outcome]
  return ['error', resultsIn(messages)[0]?.content ?? result.text]
}

async function reportIn(
  { messages, outputs }: AgentMemory,
  blob: (digest: string) => Promise<Uint8Array | null>,
): Promise<FanOutReport | null> {
  const [result] = resultsIn(messages)
  if (!result) return null
  const whole = outputs[result.call_id]
  const bytes = whole ? await blob(whole.digest) : null
  try {
    return JSON.parse(bytes ? Buffer.from(bytes).toString('utf8') : result.content)
  } catch {
    // The call was stopped or refused as a whole; then its words are no report.
    return null
  }
}

function childResult(run_id: string, child: Child, closed: NonNullable<Child['closed']>): SpawnResult {
  const { result, close_reason } = closed
  const success = result.outcome === 'completed'
  return {
    run_id,
    agent_id: child.id,
    success,
    outcome: result.outcome,
    summary: firstParagraph(result.text),
    details: result.text,
    ...(child.reused_from ? NOTHING_USED : usedBy(result)),
    files_read: result.files_read,
    files_changed: result.files_changed,
    receipt: result.receipt ?? null,
    adjustments: (child.contract as Contract | null)?.adjustments ?? [],
    cached_from: child.reused_from,
    error: success ? null : (result.reason ?? close_reason),
  }
}

const NOTHING_USED = { tool_calls: 0, tokens: 0, context_tokens: null, cost_usd: 0, duration_ms: 0 }

function usedBy({ tool_calls, usage, context_tokens, cost_usd, duration_ms }: AgentResult) {
  const tokens = usage.input_tokens + usage.output_tokens
  return { tool_calls, tokens, context_tokens: context_tokens ?? null, cost_usd, duration_ms }
}

function refusedResult(run_id: string, outcome: SpawnResult['outcome'], error: string): SpawnResult {
  return {
    ...{ run_id, agent_id: null, success: false, outcome, summary: '', details: '', ...NOTHING_USED },
    ...{ files_read: [], files_changed: [], receipt: null, adjustments: [], cached_from: null, error },
  }
}

function firstParagraph(text: string): string {
  return (text.trim().split(/\n\s*\n/, 1)[0] as string).trim()
}
