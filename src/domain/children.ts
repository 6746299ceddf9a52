import { type Ledger, NOTHING_RESERVED, type Reservation, reserve, settle, spend } from './budget.js'
import type { Contract } from './contract.js'
import { type Corruption, CorruptLogError } from './corruption.js'
import type { AgentEvent, EventData } from './events.js'
import { addUsage, type Usage } from './messages.js'
import type { AgentResult } from './result.js'
import { union } from './union.js'

/** One sub-agent as its parent's own stream knows it. */
export type Child = {
  id: string
  step_idx: number
  call_id: string
  index: number
  title: string
  /** null where an earlier result was used instead. */
  contract: Contract | null
  task: string
  cache_key: string | null
  /** Whose merge conflict it resolves, beginning with that merge. */
  repairs: { sub_agent_id: string; base: string } | null
  /** Known to the parent before it is closed only where the sub-agent never started. */
  failed: AgentResult | null
  /** Where its own tree begins. null: it has not written. */
  base: string | null
  /** The commit that its work was found to be when it had ended, and whether that changes anything. */
  taken: { commit: string; is_empty: boolean } | null
  gates: EventData<'agent.gate_checked'>[]
  /** A merge of its work into its parent's tree that is under way. */
  merging: Pick<EventData<'agent.merge_started'>, 'before' | 'after' | 'kind'> | null
  merged: Pick<EventData<'agent.worktree_merged'>, 'before' | 'after' | 'kind' | 'files'> | null
  /** Whether what was set aside for it has been given back before it was closed. */
  settled: boolean
  closed: Pick<EventData<'agent.subagent_closed'>, 'final_status' | 'close_reason' | 'result'> | null
  reused_from: { run_id: string; agent_id: string } | null
  /** Whether the parent's model has been told the result. */
  delivered: boolean
}

/** What of a parent's memory its sub-agents change. */
type Family = { children: Child[]; ledger: Ledger; usage: Usage; priced: boolean; files_changed: string[] }

type ChildEvent = Extract<
  AgentEvent,
  {
    type:
      | 'agent.subagent_created'
      | 'agent.subagent_reused'
      | 'agent.subagent_failed'
      | 'agent.subagent_admitted'
      | 'agent.work_taken'
      | 'agent.gate_started'
      | 'agent.gate_checked'
      | 'agent.merge_started'
      | 'agent.merge_taken_back'
      | 'agent.worktree_merged'
      | 'agent.subagent_settled'
      | 'agent.subagent_closed'
  }
>

export function isOpen(child: Child): boolean {
  return child.closed === null
}

/** A spent budget is no error: what was found until then is there, and says that it is not all. */
export function isDone({ final_status, result }: NonNullable<Child['closed']>): boolean {
  return final_status === 'completed' && (result.outcome === 'completed' || result.outcome === 'budget_exceeded')
}

/** What a parent knows after an event about one of its sub-agents. Pure. */
export function withChildren<M extends Family>(memory: M, event: ChildEvent): M {
  switch (event.type) {
    case 'agent.subagent_created':
      return { ...memory, ledger: reserved(memory.ledger, event), children: added(memory, event, created(event.data)) }
    case 'agent.subagent_reused':
      return { ...memory, children: added(memory, event, reused(event.data)) }
    case 'agent.subagent_failed':
      return { ...memory, children: changed(memory, event, (child) => ({ ...child, failed: event.data.result })) }
    case 'agent.gate_started':
      return { ...memory, children: changed(memory, event, (child) => child) }
    case 'agent.gate_checked':
      return {
        ...memory,
        children: changed(memory, event, (child) => ({ ...child, gates: [...child.gates, event.data] })),
      }
    case 'agent.subagent_admitted':
      return { ...memory, children: changed(memory, event, (child) => ({ ...child, base: event.data.base })) }
    case 'agent.work_taken': {
      const taken = { commit: event.data.commit, is_empty: event.data.files.length === 0 }
      return { ...memory, children: changed(memory, event, (child) => ({ ...child, taken })) }
    }
    case 'agent.merge_started': {
      const { before, after, kind } = event.data
      return {
        ...memory,
        children: changed(memory, event, (child) => ({ ...child, merging: { before, after, kind } })),
      }
    }
    case 'agent.merge_taken_back':
      return { ...memory, children: changed(memory, event, takenBack) }
    case 'agent.worktree_merged': {
      const { before, after, kind, files } = event.data
      const merged = { before, after, kind, files }
      return { ...memory, children: changed(memory, event, (child) => ({ ...child, merging: null, merged })) }
    }
    case 'agent.subagent_settled':
      return settled(memory, event)
    case 'agent.subagent_closed':
      return closed(memory, event)
  }
}

/** What was found on the merged tree was about a tree that is no more. */
function takenBack(child: Child): Child {
  return { ...child, merging: null, gates: child.gates.filter(({ after_merge }) => !after_merge) }
}

/** Work of sub-agents, at any depth, that is in their own trees alone. */
export function keptBelow(children: readonly Child[]): NonNullable<AgentResult['kept_work']> {
  return children.flatMap(({ id, closed }) => {
    if (!closed) return []
    const { receipt, outcome, kept_work = [] } = closed.result
    // One that was merged is kept for files that git ignores, and its receipt says so.
    if (!receipt?.kept || receipt.merged) return kept_work
    return [{ agent_id: id, outcome, ...receipt.kept }, ...kept_work]
  })
}

/** The children with the results of these marked as handed over. */
export function told(children: Child[], ids: readonly string[]): Child[] {
  if (ids.length === 0) return children
  const named = new Set(ids)
  return children.map((child) => (named.has(child.id) && !child.delivered ? { ...child, delivered: true } : child))
}

function created({ sub_agent_id, ...data }: EventData<'agent.subagent_created'>): Child {
  const { step_idx, call_id, index, contract, task, cache_key, repairs = null } = data
  return {
    ...{ id: sub_agent_id, step_idx, call_id, index, title: contract.step.title, contract, task, cache_key, repairs },
    ...{ failed: null, base: null, taken: null, gates: [], merging: null, merged: null, settled: false },
    // What it comes to is part of the result of the one that it repairs.
    ...{ closed: null, reused_from: null, delivered: repairs !== null },
  }
}

function reused({ sub_agent_id, ...data }: EventData<'agent.subagent_reused'>): Child {
  const { step_idx, call_id, index, title, cache_key, from, result } = data
  const close_reason = `the same was done by ${from.agent_id} of run ${from.run_id}`
  return {
    ...{ id: sub_agent_id, step_idx, call_id, index, title, contract: null, task: '', cache_key, repairs: null },
    ...{
      failed: null,
      base: null,
      taken: null,
      gates: [],
      merging: null,
      merged: null,
      settled: true,
      reused_from: from,
      delivered: false,
    },
    closed: { final_status: 'completed', close_reason, result },
  }
}

/** Whether an agent has left what a contract gives to a child of it. */
export function affords(ledger: Ledger, contract: Contract): boolean {
  return setAside(ledger, contract).ok
}

/** The child itself is one of its parent's sub-agents. */
function setAside(ledger: Ledger, contract: Contract): ReturnType<typeof reserve> {
  return reserve(spend(ledger, { sub_agents: 1 }), shareOf(contract))
}

function reserved(ledger: Ledger, event: Extract<ChildEvent, { type: 'agent.subagent_created' }>): Ledger {
  const set = setAside(ledger, event.data.contract)
  if (!set.ok)
    throw corrupt(event, 'budget_overdrawn', `${event.data.sub_agent_id} gets more ${set.limit} than is left`)
  return set.ledger
}

/** It has done its work and waits to be joined: it spends nothing any more. */
function settled<M extends Family>(memory: M, event: Extract<ChildEvent, { type: 'agent.subagent_settled' }>): M {
  let share: Reservation | null = null
  const children = changed(memory, event, (child) => {
    if (child.settled) throw corrupt(event, 'child_settled_twice', child.id)
    share = child.contract && shareOf(child.contract)
    return { ...child, settled: true }
  })
  return { ...memory, children, ledger: share ? settle(memory.ledger, share, event.data.used) : memory.ledger }
}

function closed<M extends Family>(memory: M, event: Extract<ChildEvent, { type: 'agent.subagent_closed' }>): M {
  const { final_status, close_reason, result, used } = event.data
  let share: Reservation | null = null
  const children = changed(memory, event, (child) => {
    share = child.settled ? null : child.contract && shareOf(child.contract)
    return { ...child, closed: { final_status, close_reason, result } }
  })
  const ledger = share ? settle(memory.ledger, share, used) : memory.ledger
  return {
    ...memory,
    children,
    // Fractions of a dollar, added and taken away, do not come to nothing by themselves.
    ledger: children.some(isOpen) ? ledger : { ...ledger, reserved: NOTHING_RESERVED },
    usage: addUsage(memory.usage, result.usage),
    priced: memory.priced && result.cost_usd !== null,
    files_changed: union(memory.files_changed, broughtBy(result)),
  }
}

/** What a sub-agent wrote in a tree of its own is its parent's only if it was merged. */
function broughtBy({ receipt, files_changed }: AgentResult): string[] {
  if (!receipt) return files_changed
  return receipt.merged ? files_changed.filter((path) => !receipt.left_out.includes(path)) : []
}

function added({ children }: Family, event: ChildEvent, child: Child): Child[] {
  const known = children.some((c) => c.id === child.id || (c.call_id === child.call_id && c.index === child.index))
  if (known) throw corrupt(event, 'child_repeated', child.id)
  return [...children, child]
}

function changed(memory: Family, event: ChildEvent, change: (child: Child) => Child): Child[] {
  const at = memory.children.findIndex((child) => child.id === event.data.sub_agent_id)
  const child = memory.children[at]
  if (!child) throw corrupt(event, 'child_unknown', event.data.sub_agent_id)
  if (!isOpen(child)) throw corrupt(event, 'child_closed_twice', `${event.type} of ${child.id}, which is closed`)
  const children = [...memory.children]
  children[at] = change(child)
  return children
}

function shareOf({ execution }: Contract): Reservation {
  const { total_tokens, cost_usd, sub_agents } = execution.budget
  return { total_tokens, cost_usd, sub_agents }
}

function corrupt(event: AgentEvent, corruption: Corruption, detail: string): CorruptLogError {
  return new CorruptLogError(corruption, event, detail)
}
