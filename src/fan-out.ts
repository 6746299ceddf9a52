import type { Settings, SpawnResult, SpawnTask } from './api.js'
import {
  type AgentMemory,
  type Budget,
  type Child,
  type Contract,
  type Message,
  NO_USAGE,
  type Profile,
  ROOT_BUDGET,
} from './domain/index.js'
import type { Model, ModelAnswer } from './models/index.js'
import { createToolRegistry, FAN_OUT_STOPPED, type FanOutReport, fanOut, type ToolRegistry } from './tools/index.js'

/** Where a model would be named: the root agent of a fan-out is a program. */
export const FAN_OUT_MODEL = 'program/fan_out'

type Order = { tasks: readonly SpawnTask[]; max_concurrent: number }

/** What the run is about in words, and the order itself as it was given. */
export function fanOutTask({ tasks, max_concurrent }: Order): string {
  const title = tasks.length === 1 ? (tasks[0]?.title ?? tasks[0]?.task ?? '') : `${tasks.length} tasks for sub-agents`
  return `${title.split('\n', 1)[0]}\n\n${JSON.stringify({ tasks, max_concurrent })}`
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
  const text = last?.role === 'tool' && last.results.some(({ is_error }) => is_error) ? 'Not all' : 'All'
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

/** A program reads its whole order at once, however long it is. */
const ORDER_TOKENS = 10_000_000
/** More than a sub-agent gets that asks for nothing else. */
const TOKENS_A_TASK = 200_000

/** Room for all the tasks, where nobody set a limit. */
export function fanOutBudget(tasks: number, limits: Partial<Budget>): Partial<Budget> {
  const { sub_agents, total_tokens } = ROOT_BUDGET
  return {
    context_tokens: ORDER_TOKENS,
    sub_agents: limits.sub_agents ?? Math.max(tasks, sub_agents),
    total_tokens:
      limits.total_tokens === undefined ? Math.max(tasks * TOKENS_A_TASK, total_tokens ?? 0) : limits.total_tokens,
  }
}

/** The tasks, each with a model of its own or of its profile; the rest get the one that is `fallback`. */
export async function withModels(
  tasks: readonly SpawnTask[],
  profiles: Readonly<Record<string, Profile>>,
  fallback: () => Promise<string>,
): Promise<SpawnTask[]> {
  const hasModel = ({ model, profile = '' }: SpawnTask) =>
    Boolean(model ?? profiles[profile]?.model ?? profiles[profile]?.pool)
  if (tasks.every(hasModel)) return [...tasks]
  const model = await fallback()
  return tasks.map((task) => (hasModel(task) ? task : { ...task, model }))
}

/** Why nothing can be handed out at all, whatever the tasks; or null. */
export function fanOutObstacle({ mode, delegation }: Pick<Settings, 'mode' | 'delegation'>): string | null {
  if (delegation?.enabled === false) return 'Delegation is switched off in the settings (delegation.enabled: false)'
  if (mode !== 'plan') return null
  return "Plan mode has no sub-agents. For such as only read, use another mode and give it to each task: { task, mode: 'plan' }"
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
  const { result, final_status, close_reason } = closed
  const success = final_status === 'completed' && result.outcome === 'completed'
  return {
    run_id,
    agent_id: child.id,
    success,
    outcome: result.outcome,
    summary: firstParagraph(result.text),
    details: result.text,
    tool_calls: result.tool_calls,
    tokens: result.usage.input_tokens + result.usage.output_tokens,
    context_tokens: result.context_tokens ?? null,
    cost_usd: result.cost_usd,
    duration_ms: result.duration_ms,
    files_read: result.files_read,
    files_changed: result.files_changed,
    adjustments: (child.contract as Contract | null)?.adjustments ?? [],
    error: success ? null : (result.reason ?? close_reason),
  }
}

function refusedResult(run_id: string, outcome: SpawnResult['outcome'], error: string): SpawnResult {
  return {
    ...{ run_id, agent_id: null, success: false, outcome, summary: '', details: '', tool_calls: 0, tokens: 0 },
    ...{ context_tokens: null, cost_usd: 0, duration_ms: 0, files_read: [], files_changed: [], adjustments: [], error },
  }
}

function firstParagraph(text: string): string {
  return (text.trim().split(/\n\s*\n/, 1)[0] as string).trim()
}
