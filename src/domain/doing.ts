import type { ModelFault, Purpose } from './events.js'
import { endedAs } from './in-words.js'
import { type Figures, NO_FIGURES, type RunTree, type TreeAgent } from './tree.js'

/** What an agent does at this moment, or what it waits for. */
export type Doing =
  | { kind: 'waiting_for_slot' }
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
  if (agent.state === 'created') return { kind: 'waiting_for_slot' }
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
  if (agent.retry) return { kind: 'retrying', ...agent.retry }
  const ids = awaited(agent)
  if (ids.length > 0) return { kind: 'waiting_for_agents', ids }
  const [delegating] = calls
  if (!delegating) return { kind: 'thinking' }
  const { tool, summary, since } = delegating
  return { kind: 'using_tool', tool, summary, since, others: calls.length - 1 }
}

/** The sub-agents that an agent waits for: those its calls are about, and all of them when it has nothing else to do. */
function awaited(agent: TreeAgent): string[] {
  const open = agent.children.filter((child) => child.state !== 'closed')
  const calls = [...agent.calls]
  if (calls.length === 0) return open.map(({ id }) => id)
  return open
    .filter(({ id, call_id }) =>
      calls.some(([made_by, { tool, waits_for }]) =>
        Array.isArray(waits_for) ? waits_for.includes(id) : call_id === made_by || tool === 'spawn_await',
      ),
    )
    .map(({ id }) => id)
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
