import type { Catalog } from '../../control/index.js'
import {
  type AgentMemory,
  type AgentResult,
  type AgentRow,
  type Child,
  type Contract,
  type DelegationRequest,
  foldAgent,
  type NewEvent,
  NO_USAGE,
  type Prompt,
  type Redactor,
} from '../../domain/index.js'
import type { Engine } from '../../engine/index.js'
import type { Host, TreeResult } from '../../host/index.js'
import type { Model } from '../../models/index.js'
import {
  AbandonedError,
  type Above,
  AgentLoop,
  type AgentPlace,
  type ChildEnd,
  type ChildRun,
  type Launcher,
  loadMaterial,
  type Material,
  type PreparedChild,
  Recorder,
  type Resting,
  type Stage,
} from '../../runtime/index.js'
import type { Lease, Store } from '../../store/index.js'
import type { Files, RunTrees } from '../../workspaces/index.js'
import type { Watching } from '../api.js'
import type { ChildContracts } from './child-contracts.js'
import { earlierChildren } from './earlier.js'
import type { Papers } from './papers.js'
import type { Preparation } from './preparation.js'

/** How soon it is asked again whether a process that should be gone has let go of a sub-agent. */
const HELD_MS = 200

/** Where those are that have begun and are not closed. */
const BEGUN: readonly AgentRow['state'][] = ['running', 'waiting_for_merge', 'completed', 'failed']

type ChildrenParts = {
  host: Host
  store: Store
  engine: Engine
  preparation: Preparation
  redactor: Redactor
  contracts: ChildContracts
  papers: Papers
  trees: RunTrees
  catalog: Catalog
  watching: Watching
  /** Where their models come from. */
  model: Preparation['childModel']
  /** The run is only going to be closed: nothing is asked, connected or checked for it. */
  closing: boolean
}

/** The sub-agents of one run, at every depth: where their contracts come from, and how they get to work. */
export class RunChildren implements Launcher {
  /** Prompts that this process made or read, by digest. Siblings share one. */
  readonly #prompts = new Map<string, Prompt>()

  constructor(private readonly parts: ChildrenParts) {}

  get profiles() {
    return this.parts.contracts.profiles
  }

  get repairs() {
    return this.parts.preparation.worktrees.repair && !this.parts.closing
  }

  async prepare(
    parent: AgentMemory,
    request: DelegationRequest,
    child: { id: string; step_idx: number },
    files: Files | null,
  ): Promise<PreparedChild> {
    const prepared = await this.parts.contracts.prepare(parent, request, child, {
      files,
      watching: this.parts.watching,
    })
    if (prepared.ok) {
      const { digest, bytes } = prepared.prompt
      if (!this.#prompts.has(digest)) this.#prompts.set(digest, JSON.parse(Buffer.from(bytes).toString('utf8')))
    }
    return prepared
  }

  async begun({ run_id }: AgentMemory) {
    const rows = await this.parts.store.agents(run_id, BEGUN)
    const those = (which: (row: AgentRow) => boolean) => new Set(rows.filter(which).map(({ agent_id }) => agent_id))
    return { ended: those(({ state }) => state !== 'running'), working: those(({ state }) => state === 'running') }
  }

  launch(parent: AgentMemory, child: Child, stage: Stage, above: Above): ChildRun {
    const { run_id, agent_id } = parent
    return this.parts.engine.workOnChild<ChildEnd>({
      run_id,
      agent_id: child.id,
      stage,
      group: `${run_id}/${agent_id}`,
      group_limit: parent.contract.execution.max_concurrent,
      end: () => this.#end(run_id, child),
      open: async (cancelled, stopped) => {
        // What the parent knows to have failed before it began is not begun by a restart.
        if (child.failed) return { done: notStarted(child.failed) }
        const memory = stage === 'fresh' ? null : await this.known(run_id, child.id)
        if (memory?.result) return { done: endOf(memory, memory.result) }
        if (memory) return this.#resume(memory, stopped, above)
        if (cancelled) return { done: notStarted(cancelledEarly(cancelled)) }
        const begun = await this.start(run_id, child, above)
        return 'unfit' in begun ? { done: notStarted(unfit(begun.unfit)) } : begun
      },
      done: (loop, result) => endOf(loop.memory, result),
      admit: (stopped, resting) => this.#admit({ run_id, agent_id: child.id }, above, stopped, resting),
    })
  }

  /** For one that works elsewhere and asks to write; the answer is in its parent's log, or is told. */
  async #admit(
    { run_id, agent_id }: { run_id: string; agent_id: string },
    above: Above,
    stopped: AbortSignal,
    resting: Resting,
  ): Promise<boolean> {
    const admitted = await above.admit(stopped, () => {}, resting)
    if (admitted.ok || stopped.aborted) return admitted.ok
    const { code, message } = admitted
    const data: NotAdmitted = { agent_id, code, message }
    await this.parts.store.signal({ run_id, kind: 'not_admitted', data, by: 'runtime' })
    return true
  }

  async file(
    parent: AgentMemory,
    child: Child,
    result: AgentResult,
    files: Files | null,
  ): Promise<{ fault: string | null }> {
    const { run_id } = parent
    const { papers, contracts } = this.parts
    const fault = await papers.report(child, result)
    if (child.cache_key !== null && files !== null && result.outcome === 'completed') {
      await contracts.keep(child.cache_key, { from: { run_id, agent_id: child.id }, result }, files)
    }
    return { fault }
  }

  earlier(parent: AgentMemory, ids: readonly string[]): Promise<Child[]> {
    return earlierChildren(this.parts.store, parent, ids)
  }

  async #end(run_id: string, child: Child): Promise<ChildEnd | null> {
    if (child.failed) return notStarted(child.failed)
    const memory = await this.known(run_id, child.id)
    if (memory) return memory.result ? endOf(memory, memory.result) : null
    const signals = await this.parts.store.signals({ run_id, after: 0 })
    const told = signals.find(({ kind, data }) => kind === 'not_started' && (data as NotStarted).agent_id === child.id)
    return told ? notStarted((told.data as NotStarted).result) : null
  }

  async known(run_id: string, agent_id: string): Promise<AgentMemory | null> {
    return foldAgent(await this.parts.store.read({ run_id, agent_id }))
  }

  /** Begins one that has no events yet. `place_taken`: the lease, where there is one already. `unfit`: this machine cannot. */
  async start(
    run_id: string,
    child: Child,
    above: Above,
    place_taken: Lease | null = null,
  ): Promise<{ lease: Lease; loop: AgentLoop } | { unfit: Unfit }> {
    const contract = child.contract as Contract
    const { store, host, engine } = this.parts
    const model = await this.parts.model(modelName(contract))
    if (!model.ok) return { unfit: { cause: 'model', message: model.message } }
    const place = await this.#place(contract, model.model, above)
    const fault = this.parts.preparation.fault(contract, place)
    if (fault !== null) return { unfit: { cause: 'contract', message: fault } }
    const { id: agent_id, step_idx, task } = child
    const at = host.clock.now()
    const named = { sub_agent_id: agent_id, step_idx }
    const events: NewEvent[] = [
      { type: 'agent.subagent_started', version: 1, at, data: { ...named, contract, task } },
      { type: 'agent.subagent_attempt', version: 1, at, data: { ...named, attempt: 1, after: null } },
    ]
    const { owner } = host.identity
    const { ttl_ms } = engine
    const claim = place_taken ? {} : { claim: { owner, ttl_ms } }
    const epoch = place_taken?.epoch ?? 1
    const written = await store.append({ run_id, agent_id, epoch, expected_seq: 0, events, ...claim })
    if (!written.ok) throw new AbandonedError(written.message)
    const lease: Lease = place_taken ?? { run_id, agent_id, owner, epoch, expires_at: at + ttl_ms }
    return { lease, loop: await this.#loop(lease, foldAgent(written.events) as AgentMemory, place) }
  }

  async #resume(memory: AgentMemory, stopped: AbortSignal, above: Above) {
    const { engine, host } = this.parts
    const { run_id, agent_id } = memory
    for (;;) {
      // One that rests has nobody else who would go on with it but whoever has its parent now.
      const taken = await engine.take(run_id, agent_id, { resting: true })
      // What the log says now: its last owner may have written until a moment ago.
      const latest = (await this.known(run_id, agent_id)) as AgentMemory
      if (latest.result) return { done: endOf(latest, latest.result) }
      if (taken.ok) return this.#goOnHere(taken.lease, latest, above)
      if (stopped.aborted) throw new AbandonedError(`${agent_id} is held by ${taken.held_by}`)
      await host.clock.sleep(HELD_MS, stopped)
    }
  }

  async #goOnHere(lease: Lease, latest: AgentMemory, above: Above) {
    const { loop, fault } = await this.goOn(lease, latest, above, false)
    if (fault !== null) loop.cancel('runtime', fault)
    return { lease, loop }
  }

  /**
   * Goes on with one whose lease was taken. `woken`: it rested, and nothing of it was cut short. `fault`: why this machine,
   * which may be another than the one that its contract was made on, cannot hold it to that.
   */
  async goOn(lease: Lease, memory: AgentMemory, above: Above, woken: boolean) {
    const { preparation } = this.parts
    const { contract } = memory
    const model = await this.parts.model(modelName(contract))
    if (!model.ok) {
      await this.parts.store.release(lease)
      throw new AbandonedError(model.message)
    }
    const place = await this.#place(contract, model.model, above)
    const loop = await this.#loop(lease, memory, place)
    if (woken) loop.recordWoken(lease)
    else loop.recordResumed({ ...lease, sandbox: await preparation.sandbox(), notes: [] })
    return { lease, loop, fault: this.parts.closing ? null : preparation.fault(contract, place) }
  }

  #place(contract: Contract, model: Model, above: Above): Promise<AgentPlace> {
    const { person, ...unasked } = this.parts.watching
    const { trees, catalog } = this.parts
    const family = { launcher: this, trees, above, catalog }
    if (this.parts.closing) return this.parts.preparation.closingPlace(model, family)
    const asks = person && contract.permissions.can_ask_person
    return this.parts.preparation.place(model, asks ? { ...unasked, person } : unasked, family)
  }

  async #loop(lease: Lease, memory: AgentMemory, place: AgentPlace): Promise<AgentLoop> {
    const { store, host, redactor } = this.parts
    const recorder = new Recorder(store, host.clock, lease, memory, redactor)
    return new AgentLoop(place, recorder, await this.#material(memory))
  }

  async #material(memory: AgentMemory): Promise<Material> {
    const { prompt_digest } = memory.contract.agent
    const known = this.#prompts.get(prompt_digest)
    if (known) return { prompt: known, history: [] }
    const material = await loadMaterial(this.parts.store, memory)
    this.#prompts.set(prompt_digest, material.prompt)
    return material
  }
}

/** Why one that works elsewhere may not write. */
export type NotAdmitted = { agent_id: string } & Pick<Extract<TreeResult<object>, { ok: false }>, 'code' | 'message'>

/** Why this machine cannot begin a sub-agent: its model is not to be had here, or its contract cannot be enforced. */
type Unfit = { cause: 'model' | 'contract'; message: string }

function unfit({ cause, message }: Unfit): AgentResult {
  return unspent(cause === 'model' ? 'error' : 'policy_violation', cause, message)
}

/** How one ended that could not begin where it was to work. */
export type NotStarted = { agent_id: string; result: AgentResult }

export function cancelledEarly({ by, reason }: { by: string; reason: string }): AgentResult {
  return unspent('cancelled', by, `cancelled by ${by}: ${reason}`)
}

function endOf({ ledger }: AgentMemory, result: AgentResult): ChildEnd {
  const { total_tokens, cost_usd, sub_agents } = ledger.spent
  return { result, used: { total_tokens, cost_usd, sub_agents }, started: true }
}

function notStarted(result: AgentResult): ChildEnd {
  return { result, used: { total_tokens: 0, cost_usd: 0, sub_agents: 0 }, started: false }
}

function unspent(outcome: AgentResult['outcome'], cause: string, reason: string): AgentResult {
  return {
    ...{ outcome, cause, reason, text: '', turns: 0, tool_calls: 0, usage: NO_USAGE, cost_usd: 0 },
    ...{ files_read: [], files_changed: [], duration_ms: 0 },
  }
}

function modelName({ model }: Contract): string {
  return `${model.provider}/${model.model}`
}
