import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExpectStatic } from 'vitest'
import { foldAgent, type PlanOutcome, type StoredEvent } from '../../src/index.js'
import type { Flow } from './plan-flow.js'
import { withTree } from './tree-work.js'
import { aboutChildren, checkLog, checkTidy } from './workspace-check.js'
import { type Checkout, checkout } from './workspace-run.js'

/** What a plan came to, and what all that took part in it were told; the same however often it was killed. */
export type CameTo = { steps: unknown[]; plan: unknown; report: string; tasks: unknown[] }

/** Of a plan that was carried out and landed. */
export async function checkPlanLanded(
  cwd: string,
  run_id: string,
  flow: Flow,
  before: Checkout,
  acknowledged: readonly StoredEvent[],
  expect: ExpectStatic,
): Promise<CameTo> {
  const { result, outcome } = await withTree(cwd, async (retinue) => ({
    result: await retinue.result(run_id),
    outcome: await retinue.planOutcome(run_id),
  }))
  expect(result).toMatchObject({ outcome: 'completed', reason: null, landing: { state: 'landed', reason: null } })
  expect(outcome).toMatchObject({ status: 'completed', reason: null, findings: [] })
  expect(checkout(cwd)).toEqual({ ...before, files: flow.landed(before.files) })
  const { log } = await checkLog(cwd, run_id, acknowledged, expect)
  expect(aboutChildren(log, 'agent.worktree_merged')).toEqual(flow.merged)
  await checkTidy(cwd, run_id, log, expect)
  checkSteps(log, expect)
  // The same report wherever one looks.
  expect(result?.text).toBe(outcome.report)
  expect(readFileSync(join(cwd, '.retinue/reports', run_id, 'plan.md'), 'utf8')).toBe(outcome.report)
  expect(existsSync(join(cwd, '.retinue/plans', `${run_id}.yaml`))).toBe(true)
  return cameTo(cwd, outcome, log)
}

/** Every step ended once, whatever became of the run; no sub-agent is open, and nothing is set aside any more. */
export function checkSteps(log: readonly StoredEvent[], expect: ExpectStatic): void {
  const root = foldAgent(log.filter(({ agent_id }) => agent_id === 'root'))
  const [state] = root?.plans ?? []
  const ended = log.flatMap((event) => (event.type === 'plan.step_ended' ? [event.data.step] : []))
  expect([...ended].sort()).toEqual((state?.steps ?? []).map(({ id }) => id).sort())
  expect(log.filter(({ type }) => type === 'plan.ended')).toHaveLength(1)
  expect(root?.ledger.reserved).toEqual({ total_tokens: 0, cost_usd: 0, sub_agents: 0 })
  expect(aboutChildren(log, 'agent.subagent_closed').sort()).toEqual(aboutChildren(log, 'agent.subagent_created'))
}

/** Without what is another each time: times, and what calls that were interrupted may have cost. */
function cameTo(cwd: string, outcome: PlanOutcome, log: readonly StoredEvent[]): CameTo {
  const root = foldAgent(log.filter(({ agent_id }) => agent_id === 'root'))
  const [state] = root?.plans ?? []
  const { run_id } = outcome
  const steps = outcome.steps.map(({ tokens: _, cost_usd: __, duration_ms: ___, ...step }) => step)
  const { at: _, began_at: __, ...plan } = state ?? {}
  const checks = (state?.checks ?? []).map(({ duration_ms: _, output: __, ...check }) => check)
  const tasks = log.flatMap((event) => {
    if (event.type !== 'agent.subagent_created') return []
    const { sub_agent_id, call_id, index, task, contract } = event.data
    const { step, permissions, workspace } = contract
    return [{ sub_agent_id, call_id, index, task, step: step.title, permissions, owns: workspace.owns }]
  })
  const same = JSON.stringify({ steps, plan: { ...plan, checks }, report: outcome.report, tasks })
  return JSON.parse(steady(same.replaceAll(cwd, '<folder>'), run_id))
}

export function steady(text: string, run_id: string): string {
  return text
    .replaceAll(run_id, '<run>')
    .replaceAll(/\bduration_ms:? \d+(?:\.\d+)?/g, 'duration_ms <ms>')
    .replaceAll(/\b(?:\d+m ?)?\d+(?:\.\d+)? ?m?s\b/g, '<time>')
    .replaceAll(/\b[\d,.]+k? tokens\b/g, '<tokens>')
    .replaceAll(/cost unknown|\$\d+\.\d+/g, '<cost>')
}
