import {
  type AgentMemory,
  type Child,
  type Plan,
  type PlanState,
  type ReviewFinding,
  type Stage,
  type StepState,
  type StepStatus,
  titleOf,
  union,
} from '../domain/index.js'
import { openFindings } from './findings.js'
import { planReport } from './report.js'
import { summaryOf } from './summary.js'

/** What became of one step, from what the log says. */
export type StepOutcome = {
  id: string
  stage: Stage
  title: string
  agent: string | null
  depends_on: string[]
  /** Which files it may write; null: all that its agent may. */
  owns: string[] | null
  status: StepStatus | 'waiting' | 'running'
  /** Why it is not completed. */
  reason: string | null
  /** It is completed, but its budget ended before it was done. */
  incomplete: boolean
  /** The last that worked on it; null: nobody did. */
  agent_id: string | null
  attempts: number
  /** Why the attempts failed after which it was tried again. */
  failures: string[]
  /** The first paragraph of its report. */
  summary: string
  /** Of the result. */
  files_changed: string[]
  /** What it changed and is not part of the result. */
  files_kept: string[]
  gates: { what: string; passed: boolean; stage: 'before_merge' | 'after_merge' }[]
  /** Of all its attempts together. */
  tool_calls: number
  tokens: number
  /** null where a price is not known. */
  cost_usd: number | null
  duration_ms: number
}

export type PlanOutcome = {
  run_id: string
  call_id: string
  status: 'running' | 'completed' | 'failed' | 'made' | 'left'
  reason: string | null
  /** The plan's; as long as there is none, what the run is about. */
  goal: string
  plan: Plan | null
  revision: number
  /** Each plan that was adopted: who made it, and why it took the place of the one before. */
  revisions: PlanState['adopted']
  steps: StepOutcome[]
  /** Those of the whole, as they came out last. */
  checks: { what: string; passed: boolean; detail: string }[]
  reviews: { step: string; round: number; summary: string; findings: ReviewFinding[] }[]
  /** What the reviewer found last and nobody has mended. */
  findings: ReviewFinding[]
  /** `duration_ms`: from its first event to its last. */
  totals: { agents: number; tool_calls: number; tokens: number; cost_usd: number | null; duration_ms: number }
  /** All of this as Markdown. */
  report: string
}

/** What a plan has come to, from the memory of the agent that carries it out. */
export function planOutcome(memory: AgentMemory, state: PlanState): PlanOutcome {
  const { call_id, plan, ended } = state
  const children = withRepairers(
    memory.children.filter((child) => child.call_id === call_id),
    memory,
  )
  const used = usedBy(children)
  const outcome = {
    ...{ run_id: memory.run_id, call_id, status: ended?.status ?? 'running', reason: ended?.reason ?? null },
    ...{ goal: plan?.goal ?? titleOf(memory.task), plan, revision: state.revision, revisions: state.adopted },
    steps: state.steps.map((step) => stepOutcome(step, state, memory)),
    checks: lastChecks(state),
    reviews: state.reviews.map(({ step, round, summary, findings }) => ({ step, round, summary, findings })),
    findings: openFindings(state),
    totals: { agents: agentsIn(children), ...used, duration_ms: state.at - state.began_at },
  } satisfies Omit<PlanOutcome, 'report'>
  return { ...outcome, report: planReport(outcome) }
}

function stepOutcome(step: StepState, state: PlanState, memory: AgentMemory): StepOutcome {
  const { id, stage, title, agent, depends_on, owns, ended, attempts } = step
  const tried = attempts.flatMap(({ index }) => {
    const child = memory.children.find((one) => one.call_id === state.call_id && one.index === index)
    return child ? [child] : []
  })
  const last = tried.at(-1)
  const status = ended?.status ?? (attempts.length > 0 ? 'running' : 'waiting')
  const merging = last ? withRepairers([last], memory) : []
  return {
    ...{ id, stage, title, agent, depends_on, owns, status, reason: ended?.reason ?? null },
    incomplete: status === 'completed' && last?.closed?.result.outcome === 'budget_exceeded',
    agent_id: ended?.sub_agent_id ?? last?.id ?? null,
    attempts: attempts.length,
    failures: tried.slice(0, -1).map(whyFailed),
    summary: summaryOf(step, state, last?.closed?.result.text ?? ''),
    files_changed: merging.map(broughtBy).reduce(union, []),
    files_kept: last ? keptBy(last) : [],
    gates: last ? gatesOf(last) : [],
    ...usedBy(withRepairers(tried, memory)),
  }
}

/** Those who resolve a merge conflict of one of them are its parent's too, under a call of their own. */
function withRepairers(children: readonly Child[], memory: AgentMemory): Child[] {
  const ids = new Set(children.map(({ id }) => id))
  return [...children, ...memory.children.filter(({ repairs }) => repairs !== null && ids.has(repairs.sub_agent_id))]
}

function whyFailed({ closed }: Child): string {
  return closed ? `${closed.result.outcome}: ${closed.result.reason ?? closed.close_reason}` : ''
}

function broughtBy({ closed, reused_from }: Child): string[] {
  if (!closed || reused_from) return []
  const { receipt, files_changed } = closed.result
  if (!receipt) return files_changed
  return receipt.merged ? files_changed.filter((path) => !receipt.left_out.includes(path)) : []
}

function keptBy({ closed, reused_from }: Child): string[] {
  const receipt = reused_from ? undefined : closed?.result.receipt
  if (!receipt) return []
  return union(receipt.merged ? [] : receipt.files.map(({ path }) => path), receipt.left_out)
}

function gatesOf({ gates }: Child): StepOutcome['gates'] {
  return gates.map(({ what, passed, after_merge }) => {
    return { what, passed, stage: after_merge ? 'after_merge' : 'before_merge' }
  })
}

/** As far as they are closed. What was used again was paid for before. */
function usedBy(children: readonly Child[]) {
  const results = children.flatMap(({ closed, reused_from }) => (closed && !reused_from ? [closed.result] : []))
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
  const costs = results.flatMap(({ cost_usd }) => cost_usd ?? [])
  return {
    tool_calls: sum(results.map(({ tool_calls }) => tool_calls)),
    tokens: sum(results.map(({ usage }) => usage.input_tokens + usage.output_tokens)),
    cost_usd: costs.length < results.length ? null : Number(sum(costs).toPrecision(12)),
    duration_ms: sum(results.map(({ duration_ms }) => duration_ms)),
  }
}

function agentsIn(children: readonly Child[]): number {
  return children.reduce((total, { closed }) => total + 1 + (closed?.result.sub_agents ?? 0), 0)
}

/** Those of the last round. One that was made again after a crash counts as it came out then. */
function lastChecks({ checks }: PlanState): PlanOutcome['checks'] {
  const round = Math.max(0, ...checks.map((one) => one.round))
  const byNumber = new Map(checks.filter((one) => one.round === round).map((one) => [one.check, one]))
  return [...byNumber.values()]
    .sort((a, b) => a.check - b.check)
    .map(({ what, passed, detail }) => ({ what, passed, detail }))
}
