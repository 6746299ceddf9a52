import { EventEmitter, once } from 'node:events'
import {
  type AgentResult,
  type Authority,
  DELEGATION_TOOLS,
  type DelegationRequest,
  type EventData,
  type EventType,
  NO_USAGE,
  type PendingCall,
  type PlanEvent,
  type PlanState,
  withPlan,
} from '../../src/domain/index.js'
import { carryOut } from '../../src/planning/index.js'
import {
  type BuiltinOptions,
  builtinTools,
  callTools,
  createToolRegistry,
  type Delegator,
  type Job,
  type Pipeline,
  recoverCalls,
  type ToolContext,
} from '../../src/tools/index.js'
import { authorityWith } from './authority.js'
import { workbench } from './workbench.js'

export function result(more: Partial<AgentResult> = {}): AgentResult {
  return {
    outcome: 'completed',
    cause: null,
    reason: null,
    text: 'done',
    turns: 2,
    tool_calls: 3,
    usage: { ...NO_USAGE, input_tokens: 1000, output_tokens: 234 },
    cost_usd: 0.0123,
    files_read: [],
    files_changed: [],
    duration_ms: 1200,
    ...more,
  }
}

export type Closing = Partial<AgentResult> | { refuse: string }

/** Sub-agents without a runtime: they are closed when the test says so, or at once where `answer` says how. */
export function fakeDelegator(
  options: {
    answer?: (request: DelegationRequest, id: string) => Closing | null
    adjustments?: Job['adjustments']
    profiles?: Delegator['profiles']
  } = {},
) {
  const jobs: Job[] = []
  const requests: DelegationRequest[] = []
  const changes = new EventEmitter()
  changes.setMaxListeners(0)
  const change = () => once(changes, 'change')
  const wake = () => changes.emit('change')
  const stop = new AbortController()
  const jobOf = (id: string) => jobs.find((job) => job.id === id) as Job
  const close = (id: string, closing: Partial<AgentResult> = {}, more: Partial<Job> = {}) => {
    const closed = result(closing)
    const good = closed.outcome === 'completed' || closed.outcome === 'budget_exceeded'
    const job = jobOf(id)
    Object.assign(job, more)
    job.closed = { final_status: good ? 'completed' : 'failed', close_reason: 'it ended', result: closed }
    wake()
  }
  let plans: PlanState[] = []
  const keeper: Delegator['plans'] = {
    carryOut,
    state: (call_id) => plans.find((plan) => plan.call_id === call_id) ?? null,
    note(type, data) {
      const event = { type, version: 1, at: 0, data, run_id: 'run', agent_id: 'root', seq: 1 } as PlanEvent
      plans = withPlan(plans, event)
      wake()
    },
    commit: async () => {},
    next: async (also) => {
      if (!stop.signal.aborted) await Promise.race([change(), ...also])
    },
    // Whoever stops a call cancels what it has at work.
    closed: async (ids) => {
      for (const id of ids) if (!jobOf(id).closed) close(id, { outcome: 'cancelled', reason: 'stopped' })
    },
    check: async () => {},
    refusal: async () => null,
    approve: async () => null,
    limit: 8,
    get memory(): never {
      throw new Error('there is no agent behind this delegator')
    },
  }
  const delegator: Delegator = {
    plans: keeper,
    earlier: async () => [],
    profiles: options.profiles ?? [],
    pausing: false,
    jobs: () => jobs.map((job) => ({ ...job })),
    async spawn(call_id, index, request) {
      const before = jobs.find((job) => job.call_id === call_id && job.index === index)
      if (before) return { ok: true, id: before.id, adjustments: before.adjustments }
      const id = `a${jobs.length + 1}`
      const closing = options.answer?.(request, id) ?? null
      if (closing && 'refuse' in closing) return { ok: false, message: closing.refuse }
      requests.push(request)
      const adjustments = options.adjustments ?? []
      const title = request.task.split('\n')[0] as string
      jobs.push({
        id,
        call_id,
        index,
        title,
        waits: false,
        delivered: false,
        adjustments,
        closed: null,
        reused_from: null,
      })
      if (closing) close(id, closing)
      wake()
      return { ok: true, id, adjustments }
    },
    async wait(ids) {
      while (!stop.signal.aborted && ids.some((id) => !jobOf(id).closed)) await change()
      return ids.map((id) => ({ ...jobOf(id) }))
    },
  }
  return {
    delegator,
    jobs,
    requests,
    close,
    /** Resolves when there are so many. */
    async spawned(n: number) {
      while (jobs.length < n) await change()
    },
    deliver: (id: string) => {
      jobOf(id).delivered = true
    },
    stop: () => {
      stop.abort()
      wake()
    },
  }
}

export type Fake = ReturnType<typeof fakeDelegator>

type Recorded = { [T in EventType]: { type: T; data: EventData<T> } }[EventType]

/** Calls as a model makes them, through the pipeline, by an agent that may delegate. */
export async function delegationLab(
  fake: Fake | null,
  options: {
    authority?: Parameters<typeof authorityWith>[0]
    depth?: number
    context?: Partial<ToolContext>
    limits?: Partial<ToolContext['limits']>
    tools?: BuiltinOptions
    files?: Record<string, string>
  } = {},
) {
  const abort = new AbortController()
  const bench = await workbench(options.files ?? {}, {
    context: { delegation: fake?.delegator ?? null, signal: abort.signal, ...options.context },
    ...(options.limits ? { limits: options.limits } : {}),
  })
  const registry = createToolRegistry(builtinTools({ profiles: fake?.delegator.profiles ?? [], ...options.tools }))
  const given = authorityWith({
    allowed_tools: [...DELEGATION_TOOLS, 'write_file', 'read_file', 'run_command', 'run_tests', 'web_fetch'],
    can_spawn_children: true,
    max_delegation_depth: 2,
    ...options.authority,
  })
  const authority: Authority = { ...given, rules: given.rules.map((layer) => ({ ...layer, mode: given.mode })) }
  const events: Recorded[] = []
  let number = 0
  const pipeline: Pipeline = {
    registry,
    authority,
    depth: options.depth ?? 0,
    context: bench.context,
    now: () => 0,
    grants: () => [],
    callsLeft: () => 100,
    onBudgetEnd: () => {},
    record: (type, data) => void events.push({ type, data } as Recorded),
    commit: async () => void events.push({ type: 'commit' } as unknown as Recorded),
    commitSoon: () => void events.push({ type: 'commit soon' } as unknown as Recorded),
    ask: async () => {
      events.push({ type: 'a person' } as unknown as Recorded)
      return { answer: 'allow', grant: null, by: 'ada', note: null }
    },
    keepOutput: (text) => ({ digest: 'kept', bytes: text.length }),
    hasOwnFiles: () => true,
    getOwnFiles: async () => true,
    alone: (work) => work(),
    carryFiles: async () => {},
    abortStatus: () => 'cancelled',
  }
  const pending = (tool: string, args: unknown, call_id = `c${++number}`) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    const part = { type: 'tool_call' as const, call_id, wire_id: call_id, tool, args: text }
    return { part, intent: null, result: null } as unknown as PendingCall
  }
  /** What the model is told, call by call. */
  const told = (from: number) =>
    events
      .slice(from)
      .filter((event) => event.type === 'tool.finished' || event.type === 'tool.refused')
      .map((event) => event.data)
      .sort((a, b) => Number(a.call_id.slice(1)) - Number(b.call_id.slice(1)))
  const turn = async (...calls: [string, unknown][]) => {
    const from = events.length
    await callTools(
      pipeline,
      calls.map(([tool, args]) => pending(tool, args)),
    )
    return told(from)
  }
  return {
    ...bench,
    abort,
    events,
    registry,
    turn,
    /** One call, and what the model is told. */
    async tell(tool: string, args: unknown) {
      const [answer] = await turn([tool, args])
      return answer as NonNullable<typeof answer>
    },
    /** The same call again, as a new process makes it. */
    async again(tool: string, args: unknown, call_id: string) {
      const from = events.length
      const call = pending(tool, args, call_id)
      const intent = { call_id, tool, args, paths: [], attempt: 1, witness: null, interrupted: true }
      await recoverCalls(pipeline, [{ ...call, intent } as unknown as PendingCall], true)
      return told(from)[0] as NonNullable<ReturnType<typeof told>[number]>
    },
  }
}

/** What `result` says that a sub-agent used, in words. */
export const FIGURES = '3 tool calls, 1,234 tokens, $0.012, 1.2s'
export const PROFILES = [
  { name: 'researcher', description: 'looks things up' },
  { name: 'coder', description: '' },
]

/** Every sub-agent answers at once with what it was asked. */
export const echo = (more: Closing = {}) =>
  fakeDelegator({ answer: ({ task }) => ({ text: `about ${task}`, ...more }) })
