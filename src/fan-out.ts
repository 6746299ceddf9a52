import type { RunOptions, Settings, SpawnResult, SpawnTask } from './api.js'
import {
  type AgentMemory,
  type AgentResult,
  type Budget,
  type Child,
  type Contract,
  type Message,
  type Mode,
  NO_USAGE,
  type Profile,
  ROOT_BUDGET,
  titleOf,
} from './domain/index.js'
import type { Model, ModelAnswer } from './models/index.js'
import { createToolRegistry, FAN_OUT_STOPPED, type FanOutReport, fanOut, type ToolRegistry } from './tools/index.js'

/** Where a model would be named: the root agent of a fan-out is a program. */
export const FAN_OUT_MODEL = 'program/fan_out'

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
  const at_once = Math.min(max_concurrent, tasks.length)
  return `${fanOutTitle(tasks)}\n\n${JSON.stringify({ tasks, max_concurrent: at_once } satisfies Order)}`
}

/** Whether a task may be such an order: all of them are, and what a person writes is hardly ever. */
export function isLikeFanOut(task: string): boolean {
  return AT_ONCE.test(task.slice(-40))
}

const AT_ONCE = /"max_concurrent":(\d+)\}$/

/**
 * Into how many parts that which a fan-out may spend is divided, for tasks that ask for none: as many as are at work at
 * once. Read from the end of the order, because all of it may be long and this is asked for each of the tasks.
 */
export function fanOutParts({ task }: AgentMemory): number {
  return Number(AT_ONCE.exec(task.slice(-40))?.[1] ?? 1)
}

/**
 * The root agent of a fan-out: it makes one call, and says what came of it. It is asked like a model and its answers
 * are logged like a model's, so that a fan-out is run, limited, resumed and replayed like everything else.
 */
export function fanOutModel(): Model {
  return {
    name: FAN_OUT_MODEL,
    window: null,
    price: () => 0,
    unmetered: true,
    generate: async ({ messages }) => answer(messages),
  }
}

function answer(messages: readonly Message[]): ModelAnswer {
  const [task] = messages
  const last = messages.at(-1)
  const order = task?.role === 'user' ? orderIn(task.content) : ''
  const said = {
    ok: true,
    model: 'fan_out',
    usage: NO_USAGE,
    counted: true,
    cost_usd: 0,
    finish_reason: 'stop',
  } as const
  if (last === task)
    return { ...said, parts: [{ type: 'tool_call', wire_id: 'fan_out', tool: 'fan_out', args: order }] }
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
  const text = results.length > 0 && results.every(({ is_error }) => !is_error) ? 'All' : 'Not all'
  return { ...said, parts: [{ type: 'text', text: `${text} of the tasks were completed.` }] }
}

/** Tools for such a root agent. No other one has the call. */
export function withFanOut(registry: ToolRegistry): ToolRegistry {
  const own = createToolRegistry([fanOut])
  return {
    get: (name) => own.get(name) ?? registry.get(name),
    names: () => [...registry.names(), ...own.names()],
    definitions: (names, limits) => [...registry.definitions(names, limits), ...own.definitions(names, limits)],
  }
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
  return ['error', firstResult(messages)?.content ?? result.text]
}

function firstResult(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === 'tool' ? message.results : []))[0]
}

async function reportIn(
  { messages, outputs }: AgentMemory,
  blob: (digest: string) => Promise<Uint8Array | null>,
): Promise<FanOutReport | null> {
  const result = firstResult(messages)
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

function orderIn(task: string): string {
  return task.slice(task.indexOf('\n\n') + 2)
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
