import { type AgentRow, type Counters, NO_COUNTS, type Projection, type RunRow } from '../domain/index.js'

/** What a number of events together do to a row of `runs`. */
export type RunDelta = {
  created: Projection['run']
  set: NonNullable<Projection['set_run']>
  add: Counters
  /** New ones. */
  agents: number
  /** false: nothing changes but the position and the time. */
  touched: boolean
  events: number
  updated_at: number
}

/** What a number of events together do to an agent's row of `sub_agents`. */
export type AgentDelta = {
  created: Projection['agent']
  set: Partial<NonNullable<Projection['set_agent']>>
  updated_at: number
}

/** By agent, only of those whose rows change; new rows in the order in which they were created. */
export type AgentDeltas = Map<string, AgentDelta>

export function newRunDelta(): RunDelta {
  return { created: null, set: {}, add: { ...NO_COUNTS }, agents: 0, touched: false, events: 0, updated_at: 0 }
}

/** Events must be added in the order of their positions: of two values for one column the later stays. */
export function addToRun(delta: RunDelta, projection: Projection, at: number): void {
  delta.events += 1
  // Agents' clocks differ; a run must not look older after an event than before it.
  if (at > delta.updated_at) delta.updated_at = at
  if (!projection.run && !projection.set_run && !projection.add && !projection.agent) return
  delta.touched = true
  if (projection.run) {
    const { task, workspace_root } = projection.run
    delta.created = { ...projection.run, task: legible(task), workspace_root: legible(workspace_root) }
  }
  if (projection.set_run) {
    Object.assign(delta.set, projection.set_run)
    if (delta.set.text !== undefined) delta.set.text = legible(delta.set.text)
  }
  if (projection.add) addCounts(delta.add, projection.add)
  if (projection.agent) delta.agents += 1
}

/** Events of one batch or of many, of one writer or of many, in the order of their positions. */
export function addToAgents(deltas: AgentDeltas, { agent_id, agent, set_agent }: Projection, at: number): void {
  if (agent) {
    // What came before there was a row changed none.
    deltas.delete(agent_id)
    deltas.set(agent_id, { created: agent, set: {}, updated_at: at })
  }
  if (!set_agent) return
  const delta = deltas.get(agent_id)
  if (!delta) deltas.set(agent_id, { created: null, set: { ...set_agent }, updated_at: at })
  else {
    Object.assign(delta.set, set_agent)
    delta.updated_at = Math.max(delta.updated_at, at)
  }
}

/** The row after the events, or null where there is no row to change. */
export function applyToRun(run_id: string, row: RunRow | null, delta: RunDelta): RunRow | null {
  const empty = { ...NO_COUNTS, run_id, updated_at: 0, last_position: 0, agents: 0 }
  const before = delta.created ? { ...delta.created, ...empty } : row
  if (!before) return null
  const after = { ...before, ...delta.set }
  addCounts(after, delta.add)
  after.updated_at = Math.max(before.updated_at, delta.updated_at)
  after.last_position = before.last_position + delta.events
  after.agents = before.agents + delta.agents
  return after
}

export function applyToAgent(
  { run_id, agent_id }: { run_id: string; agent_id: string },
  row: AgentRow | null,
  delta: AgentDelta,
): AgentRow | null {
  const before = delta.created ? { ...delta.created, ...NO_COUNTS, run_id, agent_id, updated_at: 0 } : row
  if (!before) return null
  const after = { ...before, ...delta.set }
  after.updated_at = Math.max(before.updated_at, delta.updated_at)
  return after
}

function addCounts(total: Counters, more: Counters): void {
  for (const name of Object.keys(NO_COUNTS) as (keyof Counters)[]) total[name] += more[name]
}

/** Databases end a text at a NUL and cannot hold half a surrogate pair. The event keeps both, as JSON escapes. */
function legible(text: string): string {
  return text.replace(/[\0\ud800-\udfff]/gu, '\ufffd')
}
