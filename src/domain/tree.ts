import type { Effect } from './authority.js'
import type { Adjustment, Contract } from './contract.js'
import { isAwaited } from './doing.js'
import type { EventData, ModelFault, Purpose, StoredEvent } from './events.js'
import { type Figures, NO_FIGURES } from './figures.js'
import { type AgentState, endState } from './lifecycle.js'
import type { Mode } from './modes.js'
import type { Outcome } from './outcome.js'
import type { AgentResult } from './result.js'

/** A call under way. `waits_for`: the tool itself, a person, every sub-agent of the call or of the agent, or these. */
type OpenCall = { tool: string; summary: string; since: number; waits_for: 'tool' | 'person' | 'children' | string[] }

/** One agent of a run as somebody who watches sees it. Only `growTree` changes it. */
export type TreeAgent = {
  readonly id: string
  readonly parent_id: string | null
  readonly depth: number
  readonly children: TreeAgent[]
  /** Those of them that are not closed. */
  readonly open: Set<TreeAgent>
  title: string
  profile: string | null
  model: string
  mode: Mode | null
  /** Of the workers that may have it; null: any. */
  label: string | null
  state: AgentState
  outcome: Outcome | null
  final_status: 'completed' | 'failed' | null
  /** Why it ended as it did, where the outcome does not say it all. */
  reason: string | null
  own: Figures
  /** Its own and that of all below it. */
  all: Figures
  created_at: number
  started_at: number | null
  ended_at: number | null
  closed_at: number | null
  /** When it closed, its parent did nothing but wait for it, alone or with others. */
  awaited: boolean
  /** From when to when, the last time, the process that worked on it was gone. */
  gone: { from: number; to: number } | null
  /** Time at work up to `seen_at`, without that in which its process was gone, or a person or its turn was waited for. */
  active_ms: number
  seen_at: number
  attempt: number
  /** The last thing that was refused or failed. */
  trouble: { kind: 'refusal' | 'failure'; text: string; at: number } | null
  adjustments: readonly Adjustment[]
  /** Whose earlier result was used instead of running it. */
  reused_from: { run_id: string; agent_id: string } | null
  cancelling: boolean
  /** The call of its parent that it was made by. */
  readonly call_id: string | null
  request: { purpose: Purpose; attempt: number; since: number; estimated_usd: number | null } | null
  calls: Map<string, OpenCall>
  retry: { code: ModelFault; not_before: number | null } | null
  /** The gate that its parent is running on it. */
  gate: { what: string; after_merge: boolean } | null
  /** The tree of files that is its own. */
  worktree: { branch: string; path: string; base: string } | null
  /** The command that is making it ready. */
  setup: { command: string; since: number } | null
  /** Earlier sub-agents that must be closed before it may write. */
  behind: readonly string[] | null
  /** Its parent is merging its work. */
  merging: boolean
  /** The result of the run is being brought into the folder. Of the root alone. */
  landing: boolean
  /** The branch that has work of it that was not integrated. */
  kept_on: string | null
  /** Files that it wrote and git ignores. */
  left_out: readonly string[]
}

export type RunTree = {
  run_id: string | null
  task: string
  outcome: Outcome | null
  root: TreeAgent | null
  agents: Map<string, TreeAgent>
  /** Position of the last event in it. */
  position: number
}

export function emptyTree(): RunTree {
  return { run_id: null, task: '', outcome: null, root: null, agents: new Map(), position: 0 }
}

/**
 * The tree after one more event of the run, in the order of their positions. It changes the tree that it is given: a
 * run has many thousands of events, and whoever draws looks at the tree only now and then.
 */
export function growTree(tree: RunTree, event: StoredEvent): RunTree {
  tree.position = event.position
  switch (event.type) {
    case 'run.created':
      tree.run_id = event.run_id
      tree.task = event.data.task
      return tree
    case 'agent.started':
      startRoot(tree, event)
      return tree
    case 'agent.subagent_created':
      addChild(tree, event, event.data.contract.step.title, event.data.contract)
      break
    case 'agent.subagent_reused': {
      const child = addChild(tree, event, event.data.title, null)
      const parent = tree.agents.get(event.agent_id)
      if (child && parent) reuse(parent, child, event.data, event.at)
      break
    }
    case 'run.closed':
      tree.outcome = event.data.outcome
      break
  }
  const agent = tree.agents.get(event.agent_id)
  if (agent) {
    passTime(agent, event)
    apply(tree, agent, event)
  }
  return tree
}

function apply(tree: RunTree, agent: TreeAgent, event: StoredEvent): void {
  switch (event.type) {
    case 'agent.resumed':
      // What was asked for when the process died may have cost something.
      if (agent.request) spend(tree, agent, { cost_usd: agent.request.estimated_usd })
      agent.request = null
      agent.behind = null
      agent.setup = null
      return
    case 'model.requested': {
      const { purpose, attempt, estimated_usd } = event.data
      agent.request = { purpose, attempt, since: event.at, estimated_usd }
      agent.retry = null
      return
    }
    case 'model.responded': {
      const { purpose, usage, cost_usd } = event.data
      agent.request = null
      const tokens = usage.input_tokens + usage.output_tokens
      spend(tree, agent, { turns: purpose === 'turn' ? 1 : 0, tokens, cost_usd })
      return
    }
    case 'model.failed': {
      const { code, message, retry_after_ms, spent_usd } = event.data
      agent.request = null
      agent.retry = { code, not_before: retry_after_ms === null ? null : event.at + retry_after_ms }
      agent.trouble = { kind: 'failure', text: `${code}: ${message}`, at: event.at }
      spend(tree, agent, { cost_usd: spent_usd })
      return
    }
    case 'permission.asked': {
      const { call_id, tool, summary } = event.data
      agent.calls.set(call_id, { tool, summary, since: event.at, waits_for: 'person' })
      return
    }
    case 'permission.answered':
      agent.calls.delete(event.data.call_id)
      return
    case 'tool.called': {
      const { call_id, tool, summary, effect, args, attempt } = event.data
      agent.calls.set(call_id, { tool, summary, since: event.at, waits_for: waitsFor(effect, args) })
      if (attempt === 1) spend(tree, agent, { tool_calls: 1 })
      return
    }
    case 'tool.refused': {
      const { call_id, tool, content } = event.data
      agent.calls.delete(call_id)
      agent.trouble = { kind: 'refusal', text: `${tool}: ${content}`, at: event.at }
      spend(tree, agent, { refusals: 1 })
      return
    }
    case 'tool.finished': {
      const { call_id, tool, status, content } = event.data
      agent.calls.delete(call_id)
      if (status !== 'ok') agent.trouble = { kind: 'failure', text: `${tool}: ${content}`, at: event.at }
      return
    }
    case 'run.cancel_requested':
    case 'agent.cancel_requested':
      agent.cancelling = true
      return
    case 'agent.subagent_started':
      agent.state = 'running'
      agent.started_at = event.at
      agent.seen_at = event.at
      return
    case 'agent.subagent_attempt': {
      const { attempt, after } = event.data
      rest(agent)
      agent.attempt = attempt
      if (after) agent.trouble = { kind: 'failure', text: said(after), at: event.at }
      return
    }
    case 'agent.subagent_waiting_for_merge':
      end(tree.agents.get(event.data.sub_agent_id), 'waiting_for_merge', event.data.result, event.at)
      return
    case 'agent.subagent_failed': {
      // Written by the parent where the sub-agent never started.
      end(tree.agents.get(event.data.sub_agent_id), 'failed', event.data.result, event.at)
      return
    }
    case 'agent.workspace_awaited':
      agent.behind = event.data.behind
      return
    case 'agent.worktree_created': {
      const { branch, path, base } = event.data
      agent.behind = null
      agent.worktree = { branch, path, base }
      return
    }
    case 'agent.setup_started':
      agent.setup = { command: event.data.command, since: event.at }
      return
    case 'agent.setup_finished': {
      const { command, passed } = event.data
      agent.setup = null
      if (!passed) agent.trouble = { kind: 'failure', text: `setup failed: ${command}`, at: event.at }
      return
    }
    case 'agent.worktree_failed':
      agent.behind = null
      agent.setup = null
      agent.trouble = { kind: 'failure', text: `no worktree: ${event.data.message}`, at: event.at }
      return
    case 'agent.merge_started':
    case 'agent.worktree_merged':
    case 'agent.merge_taken_back':
      merge(tree.agents.get(event.data.sub_agent_id), event)
      return
    case 'run.landing':
    case 'run.landed':
    case 'run.kept':
      agent.landing = event.type === 'run.landing'
      return
    case 'agent.gate_started':
    case 'agent.gate_checked':
      check(tree.agents.get(event.data.sub_agent_id), event)
      return
    case 'agent.subagent_closed': {
      const child = tree.agents.get(event.data.sub_agent_id)
      if (!child) return
      child.awaited = isAwaited(agent, child)
      close(agent, child, event.data.result, event.at)
      child.final_status = event.data.final_status
      child.kept_on = event.data.result.receipt?.kept?.branch ?? null
      child.left_out = event.data.result.receipt?.left_out ?? []
      return
    }
    case 'agent.finished':
      end(agent, endState(event.data.result.outcome), event.data.result, event.at)
      return
    case 'run.closed':
      agent.state = 'closed'
      agent.closed_at = event.at
      agent.final_status = event.data.outcome === 'completed' ? 'completed' : 'failed'
      return
  }
}

function newAgent(
  place: Pick<TreeAgent, 'id' | 'parent_id' | 'depth' | 'call_id'>,
  title: string,
  contract: Contract | null,
  at: number,
): TreeAgent {
  return {
    ...place,
    children: [],
    open: new Set(),
    title,
    profile: contract?.agent.profile_id ?? null,
    model: contract ? `${contract.model.provider}/${contract.model.model}` : '',
    mode: contract?.permissions.mode ?? null,
    label: contract?.execution.label ?? null,
    state: 'created',
    outcome: null,
    final_status: null,
    reason: null,
    own: { ...NO_FIGURES },
    all: { ...NO_FIGURES },
    created_at: at,
    started_at: null,
    ended_at: null,
    closed_at: null,
    awaited: false,
    gone: null,
    active_ms: 0,
    seen_at: at,
    attempt: 0,
    trouble: null,
    adjustments: contract?.adjustments ?? [],
    reused_from: null,
    cancelling: false,
    request: null,
    calls: new Map(),
    retry: null,
    gate: null,
    worktree: null,
    setup: null,
    behind: null,
    merging: false,
    landing: false,
    kept_on: null,
    left_out: [],
  }
}

function startRoot(tree: RunTree, event: Extract<StoredEvent, { type: 'agent.started' }>): void {
  const { contract } = event.data
  const place = { id: event.agent_id, parent_id: null, depth: 0, call_id: null }
  const root = newAgent(place, contract.step.title, contract, event.at)
  root.state = 'running'
  root.started_at = event.at
  root.attempt = 1
  tree.run_id = event.run_id
  tree.root = root
  tree.agents.set(root.id, root)
}

function addChild(
  tree: RunTree,
  event: Extract<StoredEvent, { type: 'agent.subagent_created' | 'agent.subagent_reused' }>,
  title: string,
  contract: Contract | null,
): TreeAgent | null {
  const parent = tree.agents.get(event.agent_id)
  if (!parent) return null
  const { sub_agent_id, call_id } = event.data
  const place = { id: sub_agent_id, parent_id: parent.id, depth: parent.depth + 1, call_id }
  const child = newAgent(place, title, contract, event.at)
  parent.children.push(child)
  parent.open.add(child)
  tree.agents.set(child.id, child)
  return child
}

function reuse(
  parent: TreeAgent,
  child: TreeAgent,
  { result, from }: EventData<'agent.subagent_reused'>,
  at: number,
): void {
  close(parent, child, result, at)
  child.final_status = endState(result.outcome) === 'failed' ? 'failed' : 'completed'
  child.reused_from = from
}

function close(parent: TreeAgent, child: TreeAgent, result: AgentResult, at: number): void {
  parent.open.delete(child)
  child.closed_at = at
  end(child, 'closed', result, at)
}

function end(agent: TreeAgent | undefined, state: AgentState, result: AgentResult, at: number): void {
  if (!agent) return
  agent.state = state
  agent.outcome = result.outcome
  agent.reason = result.reason
  agent.ended_at ??= at
  agent.gate = null
  agent.merging = false
  rest(agent)
}

/** Nothing is under way any more. */
function rest(agent: TreeAgent): void {
  agent.request = null
  agent.retry = null
  agent.behind = null
  agent.setup = null
  agent.calls.clear()
}

function merge(
  child: TreeAgent | undefined,
  event: Extract<StoredEvent, { type: 'agent.merge_started' | 'agent.worktree_merged' | 'agent.merge_taken_back' }>,
): void {
  if (!child) return
  child.merging = event.type === 'agent.merge_started'
  if (event.type === 'agent.merge_taken_back') {
    child.trouble = { kind: 'failure', text: `merge taken back: ${event.data.reason}`, at: event.at }
  }
}

function check(
  child: TreeAgent | undefined,
  event: Extract<StoredEvent, { type: 'agent.gate_started' | 'agent.gate_checked' }>,
): void {
  if (!child) return
  const { what, after_merge = false } = event.data
  child.gate = event.type === 'agent.gate_started' ? { what, after_merge } : null
  if (event.type === 'agent.gate_checked' && !event.data.passed) {
    child.trouble = { kind: 'failure', text: `check failed: ${event.data.what}`, at: event.at }
  }
}

/** What a call keeps its agent waiting for, if it is not just the tool. */
function waitsFor(effect: Effect, args: Record<string, unknown>): OpenCall['waits_for'] {
  if (effect === 'ask_person') return 'person'
  if (effect !== 'delegate') return 'tool'
  const { job_ids } = args
  if (typeof job_ids !== 'string' || job_ids.trim() === '*') return 'children'
  return job_ids.split(',').map((id) => id.trim())
}

/** The same rule by which the agent's own time limit is counted. */
function passTime(agent: TreeAgent, event: StoredEvent): void {
  const idle =
    event.type === 'agent.resumed' ||
    event.type === 'permission.answered' ||
    agent.behind !== null ||
    (event.type === 'tool.finished' && agent.calls.get(event.data.call_id)?.waits_for === 'person')
  if (!idle && agent.started_at !== null && agent.ended_at === null) {
    agent.active_ms += Math.max(0, event.at - agent.seen_at)
  }
  if (event.type === 'agent.resumed') agent.gone = { from: agent.seen_at, to: event.at }
  agent.seen_at = event.at
}

function spend(tree: RunTree, agent: TreeAgent, amounts: Partial<Figures>): void {
  add(agent.own, amounts)
  for (
    let at: TreeAgent | undefined = agent;
    at;
    at = at.parent_id === null ? undefined : tree.agents.get(at.parent_id)
  )
    add(at.all, amounts)
}

function add(
  figures: Figures,
  { turns = 0, tool_calls = 0, refusals = 0, tokens = 0, cost_usd = 0 }: Partial<Figures>,
) {
  figures.turns += turns
  figures.tool_calls += tool_calls
  figures.refusals += refusals
  figures.tokens += tokens
  figures.cost_usd = figures.cost_usd === null || cost_usd === null ? null : figures.cost_usd + cost_usd
}

function said({ outcome, reason }: { outcome: Outcome; reason: string | null }): string {
  return reason === null ? outcome : `${outcome}: ${reason}`
}
