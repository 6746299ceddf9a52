import { setMaxListeners } from 'node:events'
import {
  type AgentResult,
  type Call,
  type EventData,
  endState,
  keptBelow,
  left,
  type PendingCall,
  PROGRAM,
  type Purpose,
  permits,
  type Redactor,
} from '../domain/index.js'
import type { Clock, Http, Processes, Repository, Workspace } from '../host/index.js'
import type { Model } from '../models/index.js'
import type { Store } from '../store/index.js'
import {
  type CarryOut,
  callTools,
  defuse,
  giveUpCalls,
  jobBlocks,
  type Pipeline,
  recoverCalls,
  resolveToolName,
  type ToolContext,
  type ToolLimits,
  type ToolRegistry,
} from '../tools/index.js'
import type { RunTrees } from '../workspaces/index.js'
import { AgentFiles } from './agent-files.js'
import { Asker, type Elsewhere, type Person } from './asking.js'
import { type Action, decide, exceededMessage } from './decide.js'
import { Delegation } from './delegation.js'
import { fenceOf } from './fence.js'
import { historyToSummarize } from './history.js'
import { land } from './landing.js'
import type { Above, Launcher } from './launcher.js'
import { type Asking, askModel, priceToRead } from './model-call.js'
import { OwnCommands } from './own-commands.js'
import { endPlans } from './plan-ending.js'
import { AbandonedError, type Recorder } from './recorder.js'
import type { Material } from './request.js'
import { type Delta, showProgress } from './shown.js'
import { NO_SLOT, type Slot } from './slot.js'
import { estimateRequest } from './tokens.js'

/** Everything an agent needs that is not in its log. */
export type AgentPlace = {
  store: Store
  clock: Clock
  processes: Processes
  http: Http
  /** Whether commands can be fenced in here. */
  sandboxed: boolean
  redactor: Redactor
  /** The person's folder. */
  workspace: Workspace
  repository: () => Promise<Repository | null>
  /** The trees of the run that agents write in. */
  trees: RunTrees
  /** A command for fresh ones; null: none. */
  setup: string | null
  /** What it has from the agent above it; null for the root. */
  above: Above | null
  model: Model
  registry: ToolRegistry
  /** Who sub-agents are and where they run; null where there are none. */
  launcher: Launcher | null
  /** Agents at work at once. */
  max_concurrent: number
  /** How steps that depend on each other are carried out. */
  carryOut: CarryOut
  limits: ToolLimits
  /** Who sits in front of the run and may be asked by this agent; null: nobody. */
  person: Person | null
  /** Where answers to its questions come in from other places. */
  elsewhere: Elsewhere
  /** Model calls for one request, retries included. */
  max_attempts: number
  /** How long one model call may take. */
  model_timeout_ms: number
  onDelta?: (delta: Delta) => void
}

/** Why an agent was stopped from outside its own log. */
type Stop = 'deadline' | 'cancelled'

/**
 * One agent at work: decide, do, record, again, until it is finished. The same code starts a run, goes on after a
 * crash and ends a run that was cancelled while nobody ran it.
 */
export class AgentLoop {
  #stop = newStop()
  #stopped: Stop | null = null
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #abandoned: string | null = null
  #slot: Slot = NO_SLOT
  /** Waits that take none of its time, and since when there are any. */
  #pauses = 0
  #paused_at = 0
  /** Waits without a slot that are under way. */
  #resting = 0
  readonly #asker: Asker
  readonly #files: AgentFiles
  readonly #delegation: Delegation | null

  constructor(
    private readonly place: AgentPlace,
    private readonly recorder: Recorder,
    private readonly material: Material,
  ) {
    const { launcher, clock, trees, above, workspace, repository } = place
    const { processes, limits, redactor, sandboxed, setup } = place
    const commands = new OwnCommands({
      ...{ recorder, processes, limits, redactor, sandboxed, setup },
      now: () => clock.now(),
      signal: () => this.#stop.signal,
      time_left_ms: () => this.#deadline - clock.now(),
    })
    this.#files = new AgentFiles({
      ...{ recorder, trees, above },
      folder: { workspace, repository, around: null },
      signal: () => this.#stop.signal,
      pause: (wait) => this.#pause(() => this.#rest(wait)),
      setUp: (tree, base) => commands.setUp(tree, base),
    })
    const { person, elsewhere } = place
    const { run_id, agent_id } = recorder.memory
    this.#asker = new Asker({
      ...{ person, elsewhere, whose: { run_id, agent_id } },
      askedAt: (question) => recorder.questions.get(question)?.asked_at ?? null,
      signal: () => this.#stop.signal,
    })
    this.#delegation =
      launcher &&
      new Delegation({
        recorder,
        launcher,
        trees,
        files: this.#files,
        runGate: (...gate) => commands.runGate(...gate),
        redactor,
        now: () => clock.now(),
        signal: () => this.#stop.signal,
        rest: (wait) => this.#rest(wait),
        runWhole: (...check) => commands.runWhole(...check),
        refusal: (...command) => commands.refusal(...command),
        approve: (proposal, moot) => this.#pause(() => this.#asker.approve(proposal, moot)),
        limit: place.max_concurrent,
        carryOut: place.carryOut,
        leave: (why) => this.abandon(why),
      })
  }

  /** Before it goes on after a restart: what its last process left open is known from here on. */
  recordResumed(told: Pick<EventData<'agent.resumed'>, 'owner' | 'epoch' | 'sandbox' | 'notes' | 'by'>): void {
    const { request, calls } = this.memory
    const { owner, epoch, sandbox, notes, by } = told
    this.recorder.record('agent.resumed', {
      ...{ owner, epoch, sandbox, notes, ...(by === undefined ? {} : { by }) },
      interrupted_request: request?.request_id ?? null,
      interrupted_calls: calls.filter((call) => call.intent && !call.result).map((call) => call.part.call_id),
    })
  }

  /** The same for one that rested. */
  recordWoken({ owner, epoch }: EventData<'agent.woken'>): void {
    this.recorder.record('agent.woken', { owner, epoch })
  }

  /** Whether nothing is done here but to wait for what others do elsewhere. */
  get rests(): boolean {
    const { awaits } = this.#files
    // Whoever asks a person is here to hear the answer.
    if (this.#pauses > (awaits === null ? 0 : 1)) return false
    // What waits for a tree that only a sub-agent needs is not the agent itself.
    const resting = this.#resting - (awaits === 'for_child' ? 1 : 0)
    if (resting === 0 || !(this.#delegation?.rests ?? true)) return false
    return this.memory.calls.filter(({ intent, result }) => intent && !result).length <= resting
  }

  /** Until its time is up. null: it waits, and no time of its own passes. */
  get time_left_ms(): number | null {
    return this.#pauses > 0 ? null : this.#deadline - this.place.clock.now()
  }

  /** Its sub-agents that have ended, and wait for others until they are joined. */
  get settled(): string[] {
    return this.#delegation?.settled ?? []
  }

  /** Lets go of one that rests, with all that it has to say written down. false: it has something to do after all. */
  async park(why: string): Promise<boolean> {
    if (!this.rests || this.#abandoned !== null) return false
    this.#files.sayAwaits()
    await this.recorder.commit()
    // What came meanwhile may have woken it.
    if (!this.rests || this.recorder.has_more || this.#abandoned !== null) return false
    this.abandon(why)
    return true
  }

  /** Ends the agent: the model call, the tool and its processes under way are aborted. */
  cancel(by: string, reason: string): void {
    if (this.recorder.memory.cancel || this.recorder.memory.result) return
    this.recorder.record(this.#isRoot ? 'run.cancel_requested' : 'agent.cancel_requested', { by, reason })
    this.#abort('cancelled')
    // Later, because whoever cancels may be called by what is writing. What ends the writing is met by the loop itself.
    queueMicrotask(() => void this.#haltChildren().catch(() => {}))
  }

  /** Lets go at once, without a word in the log: the lease is lost or the process must go. The run can be resumed. */
  abandon(why: string): void {
    this.recorder.stop(why)
    this.#abandoned = why
    this.#delegation?.abandon(why)
    this.#abort('cancelled')
  }

  /** `lost`: why others may be at work on it by now, null: they are not. One that is lost begins nothing any more. */
  fence(lost: () => string | null): void {
    this.recorder.onDurable = () => {
      const why = lost()
      if (why !== null) this.abandon(why)
    }
  }

  /** Lets go as soon as that costs nothing: its sub-agents that are at work finish first, and none begins any more. */
  pause(why: string): void {
    const { provider } = this.memory.contract.model
    if (provider === PROGRAM && this.#delegation) this.#delegation.pause(why)
    else this.abandon(why)
  }

  /** Whether it is let go of as soon as that costs nothing. */
  get pausing(): boolean {
    return this.#delegation?.pausing ?? false
  }

  /** `slot`: what it holds while it works, and gives back while it waits for sub-agents. */
  async run(slot: Slot = NO_SLOT): Promise<AgentResult> {
    this.#slot = slot
    this.#beginAttempt()
    try {
      await this.#haltChildren()
      await this.#files.open()
      await this.#delegation?.recover()
      for (;;) {
        const action = decide(this.memory, this.#surroundings())
        if (action.kind === 'finish') return await this.#finish(action)
        await this.#perform(action)
        if (this.#abandoned !== null) throw new AbandonedError(this.#abandoned)
      }
    } catch (error) {
      // Nobody is there to join them any more.
      this.#delegation?.abandon('its parent was let go of')
      throw error
    } finally {
      clearTimeout(this.#timer)
    }
  }

  get memory() {
    return this.recorder.memory
  }

  /** Aborts when it is cancelled or let go of. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  get #isRoot(): boolean {
    return this.memory.contract.parent.agent_id === null
  }

  /**
   * When it is cancelled, so that what its own calls take to end does not come on top of what theirs take. Not before
   * it is durable: a restart must not find sub-agents that were cancelled and a parent that knows nothing of it.
   */
  async #haltChildren(): Promise<void> {
    const { cancel } = this.memory
    if (!cancel || !this.#delegation) return
    await this.recorder.commit()
    this.#delegation.halt('parent', cancel.reason)
  }

  #beginAttempt(): void {
    clearTimeout(this.#timer)
    if (this.#stopped === 'deadline') {
      this.#stop = newStop()
      this.#stopped = null
    }
    const { attempt, ledger, contract } = this.memory
    const { budget, attempt_timeout_ms } = contract.execution
    const left_ms = budget.wall_ms - ledger.spent.wall_ms
    const attempt_left_ms = attempt_timeout_ms - (ledger.spent.wall_ms - attempt.wall_ms_before)
    this.#deadline = this.place.clock.now() + Math.min(attempt_left_ms, left_ms)
    this.#armDeadline()
  }

  async #perform(action: Exclude<Action, { kind: 'finish' }>): Promise<void> {
    switch (action.kind) {
      case 'ask_model':
        return askModel(this.#asking(), action)
      case 'call_tools':
        return callTools(this.#pipeline(), action.calls)
      case 'recover_calls':
        if (action.blind) return giveUpCalls((type, data) => this.recorder.record(type, data), action.calls)
        return recoverCalls(this.#pipeline(), action.calls, action.may_repeat)
      case 'mask':
        return this.recorder.record('context.masked', {
          call_ids: action.call_ids,
          estimated_tokens: action.estimated_tokens,
        })
      case 'exceed':
        return this.recorder.record('budget.exceeded', action.exceeded)
      case 'join_children':
        return this.#delegation?.join()
      case 'stop_children':
        await this.recorder.commit()
        return this.#delegation?.stop('parent', action.reason)
      case 'land':
        return land(
          { recorder: this.recorder, trees: this.place.trees, files: this.#files },
          action.succeeded,
          action.outcome,
        )
      case 'deliver':
        return this.#deliver(action.ids)
      case 'retry': {
        const { sub_agent_id, step_idx } = this.#named()
        const { attempt, after } = action
        this.recorder.record('agent.subagent_attempt', { sub_agent_id, step_idx, attempt, after })
        this.#delegation?.restart()
        return this.#beginAttempt()
      }
    }
  }

  /** As events about a sub-agent name it. */
  #named() {
    return { sub_agent_id: this.memory.agent_id, step_idx: this.memory.contract.parent.step_idx }
  }

  #deliver(ids: string[]): void {
    const jobs = (this.#delegation?.jobs() ?? []).filter(({ id }) => ids.includes(id))
    const content = jobBlocks(jobs, this.place.limits.output_chars)
    const intro = 'Results of your sub-agents that you had not asked for. Take them into account, then answer.'
    this.recorder.record('agent.results_delivered', { sub_agent_ids: ids, content: `${intro}\n\n${content}` })
  }

  /** Waits without a slot. One that is cancelled has only to close afterwards, and need not wait for its turn. */
  #rest<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#isOver) this.#slot.release()
    this.#resting += 1
    return this.#slot.rest(wait).finally(() => {
      this.#resting -= 1
    })
  }

  /** Whether all that is left to do is to close. */
  get #isOver(): boolean {
    const { attempt, contract } = this.memory
    const { max_retries, attempt_timeout_ms, budget } = contract.execution
    const may_retry = attempt.number <= max_retries && attempt_timeout_ms < budget.wall_ms
    return this.#stopped === 'cancelled' || (this.#stopped === 'deadline' && !may_retry)
  }

  #asking(): Asking {
    const { place, recorder, material } = this
    return { place, recorder, material, signal: this.#stop.signal, deadline: this.#deadline }
  }

  async #finish(action: Extract<Action, { kind: 'finish' }>): Promise<AgentResult> {
    const { outcome, cause, reason, text } = action
    endPlans(this.recorder, reason ?? outcome)
    const { ledger, usage, files_read, files_changed, at } = this.memory
    const landing = this.memory.landing && 'done' in this.memory.landing ? this.memory.landing.done : null
    const kept_work = keptBelow(this.memory.children)
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
      ...(ledger.spent.sub_agents > 0 ? { sub_agents: ledger.spent.sub_agents } : {}),
      ...(this.memory.measured ? { context_tokens: this.memory.measured.tokens } : {}),
      ...(kept_work.length > 0 ? { kept_work } : {}),
      ...(landing ? { landing } : {}),
    }
    if (landing) {
      // A restart that does not find the tree any more must know where its result is.
      await this.recorder.commit()
      await this.place.trees.end(landing)
    } else if (this.#isRoot) await this.place.trees.clear()
    if (this.#isRoot) {
      this.recorder.record('agent.finished', { result })
      this.recorder.record('run.closed', { outcome, reason: reason ?? 'the agent gave its answer', text })
    } else {
      const merges = endState(outcome) === 'waiting_for_merge'
      const type = merges ? 'agent.subagent_waiting_for_merge' : 'agent.subagent_failed'
      this.recorder.record(type, { ...this.#named(), result })
    }
    await this.recorder.commit()
    return result
  }

  #pipeline(): Pipeline {
    const { place, recorder } = this
    const files = this.#files
    let context = this.#toolContext()
    return {
      registry: place.registry,
      authority: this.memory.contract.permissions,
      depth: this.memory.contract.parent.depth,
      get context() {
        return context
      },
      hasOwnFiles: () => !files.mustHaveTree,
      getOwnFiles: async () => {
        const got = await files.ownForCall()
        if (got) context = this.#toolContext()
        return got
      },
      alone: (work) =>
        files.aloneForCall(() => {
          // While it waited, one of its sub-agents may have brought it a tree.
          context = this.#toolContext()
          return work()
        }),
      carryFiles: () => files.carry(),
      now: () => place.clock.now(),
      grants: () => this.memory.grants,
      callsLeft: () => left(this.memory.ledger, 'tool_calls'),
      onBudgetEnd: () => this.#toolCallsExceeded(),
      record: (type, data) => recorder.record(type, data),
      commit: () => recorder.commit(),
      commitSoon: () => recorder.commitSoon(),
      ask: (question) => {
        const asked = this.#isRoot ? question : { ...question, agent_id: this.memory.agent_id }
        return this.#pause(() => this.#asker.permit(asked))
      },
      keepOutput: (text) => recorder.keep(text),
      abortStatus: () => (this.#stopped === 'deadline' ? 'timeout' : 'cancelled'),
    }
  }

  #toolContext(): ToolContext {
    const { place } = this
    const { agent_id, contract } = this.memory
    const { permissions } = contract
    const { workspace, repository, around } = this.#files.now
    return {
      workspace,
      processes: place.processes,
      fence: place.sandboxed ? fenceOf(contract, workspace.root, around ?? undefined) : null,
      http: place.http,
      redactor: place.redactor,
      repository: async () => (await repository())?.during(this.#stop.signal) ?? null,
      limits: place.limits,
      signal: this.#stop.signal,
      time_left_ms: () => Math.max(0, this.#deadline - place.clock.now()),
      mayRead: (path) => {
        const { depth } = contract.parent
        const call: Call = { tool: 'read_file', effect: 'read', paths: [{ path, access: 'read' }], depth }
        const verdict = permits({ ...permissions, allowed_tools: ['read_file'] }, call)
        return verdict.decision === 'allow'
      },
      readOutput: (call_id) => this.#readOutput(call_id),
      call_id: '',
      delegation: this.#delegation,
      askPerson: (question) => this.#pause(() => this.#asker.answer(question)),
      onProgress: showProgress(place.redactor, agent_id, place.onDelta),
    }
  }

  async #readOutput(call_id: string): Promise<string | null> {
    const child = this.memory.children.find(({ id }) => id === call_id)
    if (child) return child.closed && defuse(child.closed.result.text)
    const stored = this.memory.outputs[call_id]
    if (stored) {
      const bytes = await this.place.store.blob(stored.digest)
      return bytes && Buffer.from(bytes).toString('utf8')
    }
    const { run_id, agent_id } = this.memory
    const events = await this.place.store.read({ run_id, agent_id })
    const result = events.find((event) => event.type === 'tool.finished' && event.data.call_id === call_id)
    if (result?.type === 'tool.finished') return result.data.content
    const [earlier] = (await this.#delegation?.earlier([call_id])) ?? []
    return earlier?.closed ? defuse(earlier.closed.result.text) : null
  }

  #toolCallsExceeded(): void {
    if (this.memory.exceeded) return
    const allowed = this.memory.contract.execution.budget.tool_calls
    const spent = this.memory.ledger.spent.tool_calls
    const message = exceededMessage('tool_calls', allowed)
    this.recorder.record('budget.exceeded', { limit: 'tool_calls', allowed, spent, message })
  }

  #surroundings() {
    const now = this.place.clock.now()
    return {
      // A timer may fire a little early, and what it has ended is over.
      now: this.#stopped === 'deadline' ? Math.max(now, this.#deadline) : now,
      deadline: this.#deadline,
      max_attempts: this.place.max_attempts,
      estimate: (purpose: Purpose) =>
        this.place.model.unmetered ? 0 : estimateRequest(this.memory, this.material, purpose),
      unmetered: this.place.model.unmetered === true,
      price: (tokens: number) => priceToRead(this.place.model, tokens),
      history_to_summarize: historyToSummarize(this.memory, this.material.history),
      sideBySide: (call: PendingCall) => {
        const tool = this.place.registry.get(resolveToolName(call.part.tool) ?? call.part.tool)
        return tool?.effect === 'read' || tool?.effect === 'delegate'
      },
    }
  }

  #armDeadline(): void {
    clearTimeout(this.#timer)
    // setTimeout fires at once for delays beyond 2^31 ms.
    const ms = Math.min(this.#deadline - this.place.clock.now(), 2 ** 31 - 1)
    this.#timer = setTimeout(() => this.#abort('deadline'), Math.max(0, ms))
  }

  /** The time a person takes to answer is not the agent's. */
  async #pause<T>(wait: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer)
    // Several may be asked at once: what passes while any of them is counts once.
    if (this.#pauses === 0) this.#paused_at = this.place.clock.now()
    this.#pauses += 1
    try {
      return await wait()
    } finally {
      this.#pauses -= 1
      if (this.#pauses === 0) {
        this.#deadline += this.place.clock.now() - this.#paused_at
        this.#armDeadline()
      }
    }
  }

  #abort(why: Stop): void {
    this.#stopped ??= why
    this.#stop.abort()
    // What waits for its turn only to close need not.
    if (this.#abandoned !== null || (this.#resting > 0 && this.#isOver)) this.#slot.release()
    if (why === 'deadline') this.#delegation?.halt('parent', "its parent's time is up")
  }
}

/** As many calls as a turn has may listen to it. */
function newStop(): AbortController {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  return stop
}
