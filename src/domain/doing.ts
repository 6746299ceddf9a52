import type { ModelFault, Purpose } from './events.js'
import { type Figures, NO_FIGURES } from './figures.js'
import { endedAs } from './in-words.js'
import type { RunTree, TreeAgent } from './tree.js'

/** What an agent does at this moment, or what it waits for. */
export type Doing =
  /** `label`: of the workers that may have it; null: any. */
  | { kind: 'waiting_for_slot'; label: string | null }
  | { kind: 'waiting_for_person'; tool: string; summary: string; since: number }
  | { kind: 'waiting_for_agents'; ids: string[] }
  | { kind: 'using_tool'; tool: string; summary: string; since: number; others: number }
  | { kind: 'asking_model'; purpose: Purpose; attempt: number; since: number }
  | { kind: 'retrying'; code: ModelFault; not_before: number | null }
  | { kind: 'waiting_to_write'; behind: readonly string[] }
  | { kind: 'setting_up'; command: string; since: number }
  | { kind: 'waiting_for_merge' }
  | { kind: 'being_merged' }
  | { kind: 'being_checked'; what: string; after_merge: boolean }
  | { kind: 'landing' }
  | { kind: 'thinking' }
  | { kind: 'ended' }

export function doingOf(agent: TreeAgent): Doing {
  const busy = busyWith(agent)
  if (busy) return busy
  const ids = [...agent.open].filter((child) => isMeant(agent, child)).map(({ id }) => id)
  return ids.length > 0 ? { kind: 'waiting_for_agents', ids } : delegatingOf(agent)
}

/** The same for whoever looks after each event of a run: which sub-agents are waited for is not looked up. */
export function doingKind(agent: TreeAgent): Doing['kind'] {
  const busy = busyWith(agent)
  if (busy) return busy.kind
  for (const child of agent.open) if (isMeant(agent, child)) return 'waiting_for_agents'
  return delegatingOf(agent).kind
}

/** Whether an agent does nothing but wait for this sub-agent, alone or with others. */
export function isAwaited(agent: TreeAgent, child: TreeAgent): boolean {
  return agent.open.has(child) && busyWith(agent) === null && isMeant(agent, child)
}

/** What an agent does itself, or what is done with it; null: it may be waiting for its sub-agents. */
function busyWith(agent: TreeAgent): Doing | null {
  if (agent.state === 'created') return { kind: 'waiting_for_slot', label: agent.label }
  if (agent.gate !== null) return { kind: 'being_checked', ...agent.gate }
  if (agent.merging) return { kind: 'being_merged' }
  if (agent.state === 'waiting_for_merge') return { kind: 'waiting_for_merge' }
  if (agent.state !== 'running') return { kind: 'ended' }
  if (agent.landing) return { kind: 'landing' }
  const calls = [...agent.calls.values()]
  const asked = calls.find((call) => call.waits_for === 'person')
  if (asked) return { kind: 'waiting_for_person', tool: asked.tool, summary: asked.summary, since: asked.since }
  if (agent.behind !== null) return { kind: 'waiting_to_write', behind: agent.behind }
  if (agent.setup !== null) return { kind: 'setting_up', ...agent.setup }
  const used = calls.filter((call) => call.waits_for === 'tool')
  const [first] = used
  if (first) {
    const { tool, summary, since } = first
    return { kind: 'using_tool', tool, summary, since, others: used.length - 1 }
  }
  if (agent.request) {
    const { purpose, attempt, since } = agent.request
    return { kind: 'asking_model', purpose, attempt, since }
  }
  return agent.retry && { kind: 'retrying', ...agent.retry }
}

/** A sub-agent that is waited for is one that the agent's calls are about, or any when it has nothing else to do. */
function isMeant({ calls }: TreeAgent, { id, call_id }: TreeAgent): boolean {
  if (calls.size === 0) return true
  for (const [made_by, { tool, waits_for }] of calls) {
    if (Array.isArray(waits_for) ? waits_for.includes(id) : call_id === made_by || tool === 'spawn_await') return true
  }
  return false
}

/** A call for sub-agents that are not there yet, or not any more. */
function delegatingOf({ calls }: TreeAgent): Doing {
  const [delegating] = calls.values()
  if (!delegating) return { kind: 'thinking' }
  const { tool, summary, since } = delegating
  return { kind: 'using_tool', tool, summary, since, others: calls.size - 1 }
}

/** Time at work so far. */
export function timeAtWork(agent: TreeAgent, now: number): number {
  if (agent.started_at === null) return 0
  const busy = agent.ended_at === null && agent.behind === null && !waitsForPerson(agent)
  return agent.active_ms + (busy ? Math.max(0, now - agent.seen_at) : 0)
}

export function waitsForPerson({ calls }: TreeAgent): boolean {
  for (const { waits_for } of calls.values()) if (waits_for === 'person') return true
  return false
}

export type Totals = {
  sub_agents: number
  waiting: number
  at_work: number
  completed: number
  incomplete: number
  failed: number
  figures: Figures
}

/** How many sub-agents there are and what has become of them, and what all agents have spent. */
export function totalsOf(tree: RunTree): Totals {
  const totals: Totals = {
    sub_agents: 0,
    waiting: 0,
    at_work: 0,
    completed: 0,
    incomplete: 0,
    failed: 0,
    figures: { ...(tree.root?.all ?? NO_FIGURES) },
  }
  for (const agent of tree.agents.values()) {
    if (agent.parent_id === null) continue
    totals.sub_agents++
    totals[standingOf(agent)]++
  }
  return totals
}

export type Standing = 'waiting' | 'at_work' | 'completed' | 'incomplete' | 'failed'

/** An agent is completed when it is closed as such, not before. */
export function standingOf(agent: TreeAgent): Standing {
  const { final_status, outcome, parent_id } = agent
  // What a budget cut short of the run itself is not joined to anything, so that it is not closed as completed.
  if (final_status !== null && parent_id === null && outcome === 'budget_exceeded') return 'incomplete'
  if (final_status !== null) return outcome === null ? final_status : endedAs(final_status, outcome)
  if (agent.state === 'failed') return 'failed'
  return agent.state === 'created' ? 'waiting' : 'at_work'
}
