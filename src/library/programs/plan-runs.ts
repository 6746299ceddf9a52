import { type Catalog, listProfiles, resolveProfile } from '../../control/index.js'
import {
  type AgentMemory,
  type Budget,
  CHILD_REQUESTS,
  type Contract,
  type DelegationSettings,
  type OpenQuestion,
  type Plan,
  PROGRAM,
  type StepSpec,
  titleOf,
} from '../../domain/index.js'
import type { Model } from '../../models/index.js'
import {
  executePlan,
  experienceOf,
  type PlanOrder,
  type PlanOutcome,
  type PlanPlace,
  type PlanPreview,
  planOutcome,
  planReport,
  previewPlan,
  questionsOf,
  stepsOf,
} from '../../planning/index.js'
import type { Store } from '../../store/index.js'
import type { Proposal, Tool } from '../../tools/index.js'
import type { GoalOptions, PlanOptions } from '../api.js'
import { RetinueError } from '../errors.js'
import { copied } from '../options.js'
import type { Papers } from '../runs/papers.js'
import { orderIn, orderTask, program } from './programs.js'

/** Where a model would be named: the root agent of a plan run is a program. */
export const PLAN_MODEL = `${PROGRAM}/plan`

export function planModel(): Model {
  return program('plan', 'execute_plan', ({ content }) => content)
}

export function isPlanRun({ model }: Contract): boolean {
  return `${model.provider}/${model.model}` === PLAN_MODEL
}

export function planTask(order: PlanOrder): string {
  return orderTask(titleOf(order.goal), order)
}

/** What a run is to do that makes a plan. */
export function goalOrder(
  goal: string,
  options: GoalOptions,
): Omit<PlanOrder, 'model' | 'max_concurrent' | 'read_only'> {
  if (typeof goal !== 'string' || goal.trim() === '')
    throw new RetinueError('input', 'The goal is empty: say what is to be reached')
  const { research, context = '', execute = false, approve = 'ask' } = options
  return { goal: goal.trim(), plan: null, research: questionsOf(research), context, execute, approve, by: 'person' }
}

/** The same for one that carries a plan out. */
export function planOrder(
  plan: Plan,
  { approve = 'steps' }: PlanOptions,
  by: 'person' | 'program',
): Omit<PlanOrder, 'model' | 'max_concurrent' | 'read_only'> {
  return { goal: plan.goal, plan, research: [], context: '', execute: true, approve, by }
}

/** What the caller gave, as it is now. Who is asked, what is told and what stops it stay the caller's own. */
export function copiedOptions<O extends PlanOptions>(options: O): () => O {
  if (!(options instanceof Object)) return () => options
  const now = { ...options }
  const { person: _, onDelta: __, signal: ___, ...data } = now
  const copy = copied('options', data)
  return () => ({ ...now, ...copy() })
}

type Parts = {
  cwd: string
  store: Store
  catalog: Catalog
  delegation: DelegationSettings
}

/** What a plan depends on here: who there is, and what they usually take. */
export function planSurroundings({ cwd, store, catalog, delegation }: Parts) {
  const profileOf = (name: string) => {
    const found = resolveProfile(catalog, name)
    return found.ok ? found.profile.profile : null
  }
  const agent: PlanPlace['agent'] = (name) => {
    const profile = profileOf(name)
    if (!profile) return null
    const reads = profile.mode === 'plan' || profile.isolation === 'read_only'
    return {
      name,
      write_paths: reads ? [] : (profile.write_paths ?? null),
      budget: { ...delegation.budget, ...profile.budget },
      names_model: Boolean(profile.model ?? profile.pool ?? profile.models),
    }
  }
  const preview = async (
    plan: Plan,
    steps: readonly StepSpec[],
    run: { limit: number; contract: Contract },
  ): Promise<PlanPreview> =>
    previewPlan(plan, {
      steps,
      limit: Math.min(run.limit, plan.max_concurrent ?? run.limit),
      experience: await experienceOf(store, cwd),
      budgetOf: (step) => {
        const budget = { ...(step.agent === null ? delegation.budget : agent(step.agent)?.budget), ...step.budget }
        const { context_tokens } = budget
        const usual = context_tokens === undefined ? {} : { total_tokens: CHILD_REQUESTS * context_tokens }
        return atMost({ ...usual, ...budget }, run.contract.execution.budget)
      },
      run: run.contract.execution.budget,
    })
  return { agent, agents: listProfiles(catalog), ask_person: delegation.ask_person, preview }
}

/** A step gets no more of anything than its run has. */
function atMost(asked: Partial<Budget>, most: Budget): Partial<Budget> {
  const names = Object.keys(asked) as (keyof Budget)[]
  const limits = names.map((name) => [name, Math.min(asked[name] ?? Infinity, most[name] ?? Infinity)] as const)
  return Object.fromEntries(limits.map(([name, limit]) => [name, limit === Infinity ? null : limit]))
}

/** What a person is asked about a plan, by what the log says of it. null: it has none to ask about. */
export async function proposalIn(
  memory: AgentMemory,
  { call_id, step, faults = [] }: Pick<Extract<OpenQuestion, { kind: 'approval' }>, 'call_id' | 'step' | 'faults'>,
  parts: Parts,
): Promise<Proposal | null> {
  const state = memory.plans.find((plan) => plan.call_id === call_id)
  if (!state?.plan) return null
  const { plan } = state
  if (step !== null) return { call_id, plan, step, preview: null, faults: [] }
  const { read_only, max_concurrent } = JSON.parse(orderIn(memory.task)) as PlanOrder
  const { agent, preview } = planSurroundings(parts)
  const { contract } = memory
  const run = { limit: contract.execution.max_concurrent ?? max_concurrent, contract }
  return { call_id, plan, step, preview: await preview(plan, stepsOf(plan, state, { agent, read_only }), run), faults }
}

/** The call of a plan run's root agent. */
export function planCall({ papers, ...parts }: Parts & { papers: Papers }): Tool {
  const { agent, agents, ask_person, preview } = planSurroundings(parts)
  return executePlan({
    agent,
    agents,
    ask_person,
    preview,
    save: (text, fresh) => papers.savePlan(text, fresh),
    report: async (memory, state, max_chars) => {
      const outcome = planOutcome(memory, state)
      await papers.reportPlan(outcome)
      return planReport(outcome, { max_chars })
    },
  })
}

/** What the plan of a run has come to. */
export function outcomeIn(memory: AgentMemory): PlanOutcome {
  const [state] = memory.plans
  if (!isPlanRun(memory.contract)) throw new RetinueError('input', `Run ${memory.run_id} carries out no plan`)
  if (!state)
    throw new RetinueError(
      'not_found',
      `Run ${memory.run_id} has not begun with its plan: ${memory.result?.reason ?? memory.result?.text ?? 'retinue resume goes on with it'}`,
    )
  return planOutcome(memory, state)
}
