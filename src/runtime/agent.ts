import {
  type AgentResult,
  type Call,
  type EventData,
  left,
  type ModelFault,
  type ModelRequest,
  NO_USAGE,
  type Part,
  type PendingCall,
  type Purpose,
  permits,
  type Redactor,
  type ToolCallPart,
} from '../domain/index.js'
import type { Clock, Http, Processes, Repository, Workspace } from '../host/index.js'
import type { AnswerPart, Model, ModelAnswer } from '../models/index.js'
import type { Store } from '../store/index.js'
import {
  callTools,
  type Pipeline,
  recoverCall,
  resolveToolName,
  type ToolContext,
  type ToolLimits,
  type ToolRegistry,
} from '../tools/index.js'
import { askPermission, askQuestion, type Person } from './asking.js'
import { messagesToSummarize } from './compaction.js'
import { type Action, decide, exceededMessage } from './decide.js'
import { fenceOf } from './fence.js'
import { AbandonedError, type Recorder } from './recorder.js'
import { buildRequest, type Material, requestDigest } from './request.js'
import { type Delta, showProgress, showWords } from './shown.js'
import { estimateMessage, estimateRequest } from './tokens.js'

/** Everything an agent needs that is not in its log. */
export type AgentPlace = {
  store: Store
  clock: Clock
  processes: Processes
  http: Http
  /** Whether commands can be fenced in here. */
  sandboxed: boolean
  redactor: Redactor
  workspace: Workspace
  repository: () => Promise<Repository | null>
  model: Model
  registry: ToolRegistry
  limits: ToolLimits
  person: Person
  /** Model calls for one request, retries included. */
  max_attempts: number
  /** How long one model call may take. */
  model_timeout_ms: number
  onDelta?: (delta: Delta) => void
}

/** Faults after which the provider may have done its work, and charge for it. */
const MAY_COST: ReadonlySet<ModelFault> = new Set(['network', 'bad_output', 'aborted'])

/** Why an agent was stopped from outside its own log. */
type Stop = 'deadline' | 'cancelled'

/**
 * One agent at work: decide, do, record, again, until it is finished. The same code starts a run, goes on after a
 * crash and ends a run that was cancelled while nobody ran it.
 */
export class AgentLoop {
  readonly #stop = new AbortController()
  #stopped: Stop | null = null
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #abandoned: string | null = null

  constructor(
    private readonly place: AgentPlace,
    private readonly recorder: Recorder,
    private readonly material: Material,
  ) {}

  /** Ends the agent: the model call, the tool and its processes under way are aborted. */
  cancel(by: string, reason: string): void {
    if (this.recorder.memory.cancel || this.recorder.memory.result) return
    this.recorder.record('run.cancel_requested', { by, reason })
    this.#abort('cancelled')
  }

  /** Lets go at once, without a word in the log: the lease is lost or the process must go. The run can be resumed. */
  abandon(why: string): void {
    this.recorder.stop(why)
    this.#abandoned = why
    this.#abort('cancelled')
  }

  async run(): Promise<AgentResult> {
    const { clock } = this.place
    const { budget, attempt_timeout_ms } = this.memory.contract.execution
    this.#deadline = clock.now() + Math.min(attempt_timeout_ms, budget.wall_ms - this.memory.ledger.spent.wall_ms)
    this.#armDeadline()
    try {
      for (;;) {
        const action = decide(this.memory, this.#surroundings())
        if (action.kind === 'finish') return await this.#finish(action)
        await this.#perform(action)
        if (this.#abandoned !== null) throw new AbandonedError(this.#abandoned)
      }
    } finally {
      clearTimeout(this.#timer)
    }
  }

  get memory() {
    return this.recorder.memory
  }

  async #perform(action: Exclude<Action, { kind: 'finish' }>): Promise<void> {
    switch (action.kind) {
      case 'ask_model':
        return this.#askModel(action)
      case 'call_tools':
        return callTools(this.#pipeline(), action.calls)
      case 'recover_call':
        return recoverCall(this.#pipeline(), action.call, action.may_repeat)
      case 'mask':
        return this.recorder.record('context.masked', {
          call_ids: action.call_ids,
          estimated_tokens: action.estimated_tokens,
        })
      case 'exceed':
        return this.recorder.record('budget.exceeded', action.exceeded)
    }
  }

  async #askModel(action: Extract<Action, { kind: 'ask_model' }>): Promise<void> {
    const { clock, model } = this.place
    if (action.not_before > clock.now()) {
      // What is waited for must be durable: another process may be the one to go on.
      await this.recorder.commit()
      await clock.sleep(action.not_before - clock.now(), this.#stop.signal)
      if (this.#stop.signal.aborted) return
    }
    const { purpose, attempt } = action
    const request = buildRequest(this.memory, this.material, purpose)
    const request_id = `q${this.memory.seq + 1}`
    const estimated_tokens = estimateRequest(this.memory, this.material, purpose)
    const estimated_usd = model.price ? this.#price(estimated_tokens) : null
    this.recorder.record('model.requested', {
      request_id,
      purpose,
      model: model.name,
      request_digest: requestDigest(model.name, this.memory.contract.agent.prompt_digest, request),
      messages: request.messages.length,
      estimated_tokens,
      estimated_usd,
      attempt,
    })
    await this.recorder.commit()
    const started = clock.now()
    const answer = await this.#generate(request, { request_id, purpose, attempt })
    const duration_ms = clock.now() - started
    if (!answer.ok) {
      const { code, message, retry_after_ms } = answer
      const spent = MAY_COST.has(code)
        ? { spent_tokens: estimated_tokens, spent_usd: estimated_usd }
        : { spent_tokens: 0, spent_usd: 0 }
      this.recorder.record('model.failed', { request_id, code, message, retry_after_ms, ...spent, duration_ms })
      return
    }
    const { finish_reason } = answer
    const parts = purpose === 'turn' ? this.#numbered(answer.parts) : withoutCalls(answer.parts)
    const replaced_messages = messagesToSummarize(this.memory)
    this.recorder.record('model.responded', {
      request_id,
      purpose,
      model: answer.model,
      answered_by: answer.answered_by ?? model.name,
      fell_over: answer.fell_over ?? [],
      parts,
      finish_reason,
      ...this.#usage(answer, parts, estimated_tokens),
      duration_ms,
    })
    if (purpose === 'summary') {
      const summary = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      this.recorder.record('context.summarized', { request_id, summary, replaced_messages })
    }
  }

  #usage(
    { usage, cost_usd = null }: Extract<ModelAnswer, { ok: true }>,
    parts: Part[],
    input_tokens: number,
  ): Pick<EventData<'model.responded'>, 'usage' | 'usage_source' | 'cost_usd'> {
    if (usage.input_tokens + usage.output_tokens > 0) return { usage, usage_source: 'provider', cost_usd }
    const estimate = { ...usage, input_tokens, output_tokens: estimateMessage({ role: 'assistant', parts }) }
    return { usage: estimate, usage_source: 'estimate', cost_usd: this.place.model.price?.(estimate) ?? null }
  }

  #price(input_tokens: number): number {
    return this.place.model.price?.({ ...NO_USAGE, input_tokens }) ?? 0
  }

  async #generate(
    request: ModelRequest,
    call: { request_id: string; purpose: Purpose; attempt: number },
  ): Promise<ModelAnswer> {
    const { clock, model, onDelta, model_timeout_ms } = this.place
    const { run_id, agent_id } = this.memory
    const shown = showWords(this.place.redactor, agent_id, onDelta)
    const aborter = new AbortController()
    const abort = () => aborter.abort()
    this.#stop.signal.addEventListener('abort', abort, { once: true })
    // It may have been aborted while the intent was being written.
    if (this.#stop.signal.aborted) abort()
    const timer = setTimeout(abort, Math.max(0, Math.min(model_timeout_ms, this.#deadline - clock.now())))
    try {
      const answer = await model.generate(request, {
        signal: aborter.signal,
        caller: { run_id, agent_id, ...call },
        ...(onDelta && call.purpose !== 'summary' ? { onDelta: (delta) => shown.show(delta) } : {}),
      })
      shown.end()
      if (!answer.ok && answer.code === 'aborted' && !this.#stop.signal.aborted && clock.now() < this.#deadline) {
        const message = `no complete answer within ${Math.round(model_timeout_ms / 1000)} s (model_timeout_ms)`
        return { ok: false, code: 'network', message, retry_after_ms: null }
      }
      return answer
    } finally {
      clearTimeout(timer)
      this.#stop.signal.removeEventListener('abort', abort)
    }
  }

  /** Gives each call an id of our own; the provider's is kept for the wire unless it has been used before. */
  #numbered(parts: AnswerPart[]): Part[] {
    let number = this.memory.calls_made
    const used = new Set<string>()
    for (const message of [...this.material.history, ...this.memory.messages]) {
      if (message.role === 'tool') for (const result of message.results) used.add(result.wire_id)
    }
    return parts.map((part): Part => {
      if (part.type !== 'tool_call') return part
      const call_id = `c${++number}`
      const wire_id = part.wire_id === '' || used.has(part.wire_id) ? call_id : part.wire_id
      used.add(wire_id)
      const { type, tool, args, provider } = part
      const numbered: ToolCallPart = { type, call_id, wire_id, tool, args }
      return provider ? { ...numbered, provider } : numbered
    })
  }

  async #finish(action: Extract<Action, { kind: 'finish' }>): Promise<AgentResult> {
    const { outcome, cause, reason, text } = action
    const { ledger, usage, files_read, files_changed, at } = this.memory
    const result: AgentResult = {
      outcome,
      cause,
      reason,
      text,
      turns: ledger.spent.turns,
      tool_calls: ledger.spent.tool_calls,
      usage,
      cost_usd: this.memory.priced ? ledger.spent.cost_usd : null,
      files_read,
      files_changed,
      duration_ms: ledger.spent.wall_ms + Math.max(0, this.place.clock.now() - at),
    }
    this.recorder.record('agent.finished', { result })
    this.recorder.record('run.closed', { outcome, reason: reason ?? 'the agent gave its answer', text })
    await this.recorder.commit()
    return result
  }

  #pipeline(): Pipeline {
    const { place, recorder } = this
    return {
      registry: place.registry,
      authority: this.memory.contract.permissions,
      context: this.#toolContext(),
      now: () => place.clock.now(),
      grants: () => this.memory.grants,
      callsLeft: () => left(this.memory.ledger, 'tool_calls'),
      onBudgetEnd: () => this.#toolCallsExceeded(),
      record: (type, data) => recorder.record(type, data),
      commit: () => recorder.commit(),
      commitSoon: () => recorder.commitSoon(),
      ask: (question) => this.#pause(() => askPermission(place.person, question, this.#stop.signal)),
      keepOutput: (text) => recorder.keep(text),
      abortStatus: () => (this.#stopped === 'deadline' ? 'timeout' : 'cancelled'),
    }
  }

  #toolContext(): ToolContext {
    const { place } = this
    const { agent_id, contract } = this.memory
    const { permissions } = contract
    return {
      workspace: place.workspace,
      processes: place.processes,
      fence: place.sandboxed ? fenceOf(permissions, place.workspace.root) : null,
      http: place.http,
      redactor: place.redactor,
      repository: async () => (await place.repository())?.during(this.#stop.signal) ?? null,
      limits: place.limits,
      signal: this.#stop.signal,
      time_left_ms: () => Math.max(0, this.#deadline - place.clock.now()),
      mayRead: (path) => {
        const call: Call = { tool: 'read_file', effect: 'read', paths: [{ path, access: 'read' }] }
        const verdict = permits({ ...permissions, allowed_tools: ['read_file'] }, call)
        return verdict.decision === 'allow'
      },
      readOutput: (call_id) => this.#readOutput(call_id),
      askPerson: (question) => this.#pause(() => askQuestion(place.person, question, this.#stop.signal)),
      onProgress: showProgress(place.redactor, agent_id, place.onDelta),
    }
  }

  async #readOutput(call_id: string): Promise<string | null> {
    const stored = this.memory.outputs[call_id]
    if (stored) {
      const bytes = await this.place.store.blob(stored.digest)
      return bytes && Buffer.from(bytes).toString('utf8')
    }
    const { run_id, agent_id } = this.memory
    const events = await this.place.store.read({ run_id, agent_id })
    const result = events.find((event) => event.type === 'tool.finished' && event.data.call_id === call_id)
    return result?.type === 'tool.finished' ? result.data.content : null
  }

  #toolCallsExceeded(): void {
    if (this.memory.exceeded) return
    const allowed = this.memory.contract.execution.budget.tool_calls
    const spent = this.memory.ledger.spent.tool_calls
    const message = exceededMessage('tool_calls', allowed)
    this.recorder.record('budget.exceeded', { limit: 'tool_calls', allowed, spent, message })
  }

  #surroundings() {
    return {
      now: this.place.clock.now(),
      deadline: this.#deadline,
      max_attempts: this.place.max_attempts,
      estimate: (purpose: Purpose) => estimateRequest(this.memory, this.material, purpose),
      price: (tokens: number) => this.#price(tokens),
      onlyReads: (call: PendingCall) => {
        const tool = this.place.registry.get(resolveToolName(call.part.tool) ?? call.part.tool)
        return tool?.effect === 'read'
      },
    }
  }

  #armDeadline(): void {
    // setTimeout fires at once for delays beyond 2^31 ms.
    const ms = Math.min(this.#deadline - this.place.clock.now(), 2 ** 31 - 1)
    this.#timer = setTimeout(() => this.#abort('deadline'), Math.max(0, ms))
  }

  /** The time a person takes to answer is not the agent's. */
  async #pause<T>(wait: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer)
    const asked = this.place.clock.now()
    const answer = await wait()
    this.#deadline += this.place.clock.now() - asked
    this.#armDeadline()
    return answer
  }

  #abort(why: Stop): void {
    this.#stopped ??= why
    this.#stop.abort()
  }
}

function withoutCalls(parts: AnswerPart[]): Part[] {
  return parts.filter((part): part is Exclude<AnswerPart, { type: 'tool_call' }> => part.type !== 'tool_call')
}
