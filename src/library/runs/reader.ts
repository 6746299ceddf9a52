import { type AgentMemory, type AgentResult, type Contract, type RunRow, titleOf } from '../../domain/index.js'
import { type Engine, givenToWorkers, pauseIn } from '../../engine/index.js'
import { loadAgent, type Material } from '../../runtime/index.js'
import type { Store } from '../../store/index.js'
import type { RunResult, RunSummary } from '../api.js'
import { RetinueError } from '../errors.js'
import { isFanOut } from '../programs/fan-out.js'
import { isPlanRun } from '../programs/plan-runs.js'
import { isLikeOrder, isProgram } from '../programs/programs.js'

/** The root agent's id. Its children get ids of their own. */
export const ROOT = 'root'

/** What the store knows about runs, whoever worked on them. */
export class RunReader {
  constructor(
    private readonly store: Store,
    private readonly engine: Engine,
    /** Those of these runs that workers go on with by themselves, though nobody has them just now. */
    private readonly askedFor: (run_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ) {}

  async runs(query: { session_id?: string; limit?: number } = {}): Promise<RunSummary[]> {
    return this.#summaries(await this.store.runs(query))
  }

  async find(id: string): Promise<RunSummary> {
    const exact = await this.store.run(id)
    if (exact) return this.#summary(exact)
    const rows = await this.store.runs({ id_prefix: id, limit: 2 })
    if (rows.length > 1) throw new RetinueError('input', `More than one run starts with "${id}": give more of the id`)
    if (!rows[0] || id === '') throw new RetinueError('not_found', `There is no run "${id}" in this store`)
    return this.#summary(rows[0])
  }

  /** null: the store has no such run. */
  async known(run_id: string): Promise<RunSummary | null> {
    const row = await this.store.run(run_id)
    return row ? this.#summary(row) : null
  }

  async #summary(row: RunRow): Promise<RunSummary> {
    const [summary] = await this.#summaries([row])
    return summary as RunSummary
  }

  async #summaries(rows: readonly RunRow[]): Promise<RunSummary[]> {
    const known = await Promise.all(rows.map((row) => this.#known(row)))
    const left = known.filter((run) => run.status === 'interrupted' && !run.paused).map(({ run_id }) => run_id)
    const how = await Promise.all(left.map((id) => givenToWorkers(this.store, id)))
    const given = left.filter((_, i) => how[i] !== null)
    if (given.length === 0) return known
    const waiting = await this.askedFor(given)
    return known.map((run) => (waiting.has(run.run_id) ? { ...run, status: 'running', waits_for_worker: true } : run))
  }

  /** As the log and its leases say it. */
  async #known(row: RunRow): Promise<RunSummary> {
    const known = { ...row, cost_usd: row.unpriced_calls > 0 ? null : row.cost_usd, ...(await this.#began(row)) }
    if (row.status === 'closed') return { ...known, status: 'closed' }
    if (await this.isHeld(row.run_id)) return { ...known, status: 'running' }
    const pause = pauseIn(await this.store.signals({ run_id: row.run_id, after: 0 }))
    if (pause === null) return { ...known, status: 'interrupted' }
    return { ...known, status: 'interrupted', paused: { by: pause.by, reason: pause.reason } }
  }

  /** Whether a living process works on it, or it rests until its turn comes. */
  async isHeld(run_id: string): Promise<boolean> {
    const lease = await this.store.lease(run_id, ROOT)
    return lease !== null && this.engine.isHeld(lease)
  }

  /** Who began it. Only the log tells a program's order from words that look like one. */
  async #began({ run_id, task }: RunRow): Promise<Pick<RunSummary, 'fan_out' | 'plan' | 'said'>> {
    const typed = { fan_out: false, plan: false, said: task }
    if (!isLikeOrder(task)) return typed
    const [created, started] = await this.store.read({ run_id, limit: 2 })
    if (created?.type !== 'run.created' || started?.type !== 'agent.started') return typed
    const { contract } = started.data
    if (!isProgram(contract)) return typed
    return { fan_out: isFanOut(contract), plan: isPlanRun(contract), said: created.data.said ?? null }
  }

  async result(run_id: string): Promise<RunResult | null> {
    const run = await this.store.run(run_id)
    if (run?.status !== 'closed') return null
    const events = await this.store.read({ run_id, agent_id: ROOT })
    const started = events.find((event) => event.type === 'agent.started')
    const finished = events.findLast((event) => event.type === 'agent.finished')
    if (started?.type !== 'agent.started' || finished?.type !== 'agent.finished') return null
    const { adjustments } = started.data.contract
    return { ...finished.data.result, run_id, session_id: run.session_id, adjustments }
  }

  /** The result of a sub-agent; null while it is not closed. */
  async closedChild(run_id: string, agent_id: string, parent_id: string): Promise<AgentResult | null> {
    const agent = await this.store.agent(run_id, agent_id)
    if (agent?.state !== 'closed') return null
    const events = await this.store.read({ run_id, agent_id: parent_id })
    const closed = events.find(
      (event) => event.type === 'agent.subagent_closed' && event.data.sub_agent_id === agent_id,
    )
    return closed?.type === 'agent.subagent_closed' ? closed.data.result : null
  }

  /** A sub-agent by its id, without a result while it is not closed; null: the run has none of that id. */
  async child(run_id: string, agent_id: string): Promise<{ title: string; result: AgentResult | null } | null> {
    const agent = await this.store.agent(run_id, agent_id)
    if (!agent || agent.parent_id === null) return null
    const { step } = JSON.parse(agent.context_json) as Contract
    return { title: titleOf(step.title), result: await this.closedChild(run_id, agent_id, agent.parent_id) }
  }

  /** A run's root agent as its log tells it. */
  async root(run_id: string): Promise<{ memory: AgentMemory; material: Material }> {
    const loaded = await loadAgent(this.store, run_id, ROOT)
    if (!loaded.ok) throw new RetinueError(loaded.code === 'tampered' ? 'corrupt' : 'not_found', loaded.message)
    return loaded
  }
}
