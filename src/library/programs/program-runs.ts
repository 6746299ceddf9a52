import { type Catalog, resolveProfile } from '../../control/index.js'
import { type Plan, PROGRAM, readOnly } from '../../domain/index.js'
import {
  faultsInWords,
  mostAgents,
  mostAgentsForGoal,
  type PlanOrder,
  planFaults,
  planFrom,
  readPlan,
  whyUnwritable,
  withLines,
  workSteps,
} from '../../planning/index.js'
import type { Store } from '../../store/index.js'
import { judgeCommand } from '../../tools/index.js'
import type {
  FanOutOptions,
  GoalOptions,
  PlanCheck,
  PlanOptions,
  RunOptions,
  RunResult,
  Settings,
  SpawnTask,
} from '../api.js'
import type { Callers } from '../callers.js'
import type { Catalogs } from '../catalogs.js'
import { RetinueError } from '../errors.js'
import {
  checkOptions,
  fanOutOptionsSchema,
  goalOptionsSchema,
  planOptionsSchema,
  spawnTasksSchema,
} from '../options.js'
import type { RunDriver } from '../runs/driver.js'
import type { Started } from '../runs/handle.js'
import { DEFAULT_CONCURRENT, type Preparation } from '../runs/preparation.js'
import {
  fanOutBudget,
  fanOutDepth,
  fanOutModel,
  fanOutObstacle,
  fanOutTask,
  fanOutTitle,
  inMode,
  withModels,
} from './fan-out.js'
import { goalOrder, planModel, planOrder, planSurroundings, planTask } from './plan-runs.js'

type Parts = {
  cwd: string
  store: Store
  settings: Settings
  catalogs: Catalogs
  preparation: Preparation
  driver: RunDriver
  callers: Callers
}

/** What is left of the options of a program's run when the program has taken its own. */
type Common = Omit<RunOptions, 'task' | 'model'>

/** Named where a plan is only looked at: that needs no key. */
const NO_MODEL = 'none/none'

/** Begins runs whose root agent is a program: those that hand out tasks, and those that make plans and carry them out. */
export class ProgramRuns {
  constructor(private readonly parts: Parts) {}

  async fanOut(
    run_id: string,
    tasks: readonly SpawnTask[],
    given: FanOutOptions,
    started: Started,
  ): Promise<RunResult> {
    checkOptions(spawnTasksSchema, { tasks })
    checkOptions(fanOutOptionsSchema, given)
    const { maxConcurrent, model, said, delegation, ...options } = await this.parts.callers.inSession(given)
    const { catalog, max_concurrent, mode: asked } = await this.#begin(options, { model, maxConcurrent })
    const profileOf = (name: string) => {
      const found = resolveProfile(catalog, name)
      return found.ok ? found.profile.profile : null
    }
    const { mode, tasks: moded } = inMode(asked, tasks)
    const named = await withModels(moded, profileOf, () => this.#model(model))
    const root = {
      ...{ catalog, as: null },
      ...(said === undefined ? {} : { said }),
      model: fanOutModel(),
      source: 'request',
      child_models: named.flatMap((task) => task.model ?? []),
      max_concurrent,
      goal: fanOutTitle(tasks),
    } as const
    const task = fanOutTask({ tasks: named, max_concurrent })
    const budget = fanOutBudget(tasks.length, [this.parts.settings.budget, options.budget])
    const contract = { mode, budget, delegation: fanOutDepth(delegation) }
    return this.parts.driver.begin(run_id, { ...options, ...contract, task }, root, started)
  }

  async planForGoal(run_id: string, goal: string, given: GoalOptions, started: Started): Promise<RunResult> {
    checkOptions(goalOptionsSchema, given)
    const { research: _, context: __, execute: ___, ...options } = given
    const { run, root, order } = await this.#plan(goalOrder(goal, given), options)
    const { agent } = this.#around(root.catalog)
    const needed = order.research.length > 0 ? ['researcher', 'planner'] : ['planner']
    const missing = needed.filter((role) => agent(role) === null)
    if (missing.length > 0) {
      const names = missing.join(' and ')
      throw new RetinueError('input', `Plans are made by ${names}, which the settings take away (delegation.roles)`)
    }
    return this.parts.driver.begin(run_id, run, root, started)
  }

  async executePlan(run_id: string, plan: unknown, given: PlanOptions, started: Started): Promise<RunResult> {
    const checked = await this.#checked(plan, given)
    if (!checked.ok)
      throw new RetinueError('input', `This plan cannot be carried out: ${faultsInWords(checked.faults)}`)
    this.#canAsk(checked.plan, given)
    return this.parts.driver.begin(run_id, checked.run, checked.root, started)
  }

  #canAsk({ steps }: Plan, { approve, person }: PlanOptions): void {
    const asks = steps.filter(({ needs_approval }) => needs_approval).map(({ id }) => id)
    if (asks.length === 0 || approve === 'yes' || person?.approve) return
    const which = `${asks.length === 1 ? 'step' : 'steps'} ${asks.join(', ')}`
    throw new RetinueError(
      'input',
      `Nobody can be asked about ${which}: approve it with the plan (approve: 'yes', --yes)`,
    )
  }

  async checkPlan(plan: unknown, given: PlanOptions): Promise<PlanCheck> {
    const checked = await this.#checked(plan, given, NO_MODEL)
    if (!checked.ok) return checked
    const { contract, preview, order } = checked
    const { agent } = this.#around(checked.root.catalog)
    const steps = workSteps(checked.plan, { agent, read_only: order.read_only })
    return {
      ok: true,
      plan: checked.plan,
      preview: await preview(checked.plan, steps, { contract, limit: order.max_concurrent }),
    }
  }

  /** A plan, and how it would be carried out here; or every fault that it has. */
  async #checked(given_plan: unknown, given: PlanOptions, instead?: string) {
    checkOptions(planOptionsSchema, given)
    const read = typeof given_plan === 'string' ? readPlan(given_plan) : planFrom(given_plan)
    if (!read.ok) return read
    const { plan } = read
    const { run, root, order } = await this.#plan(
      planOrder(plan, given, typeof given_plan === 'string' ? 'person' : 'program'),
      given,
      instead,
    )
    const draft = { ...run, task: plan.goal, session_id: run.session_id ?? '' }
    const { contract, place } = await this.parts.driver.draft('', draft, root)
    const { agent, agents, ask_person, preview } = this.#around(root.catalog)
    const faults = await planFaults(plan, {
      agent,
      agents: agents.map(({ name }) => name),
      budget: contract.execution.budget,
      used_agents: 0,
      labelFault: (label) => this.parts.preparation.labelFault(label),
      unwritable: whyUnwritable(contract.permissions, { read_only: order.read_only, ask_person }),
      refusal: async (command) => {
        const authority = order.read_only ? readOnly(contract.permissions) : contract.permissions
        const verdict = await judgeCommand(authority, command, place.sandboxed)
        return verdict.decision === 'allow' ? null : verdict.reason
      },
    })
    const placed = typeof given_plan === 'string' ? withLines(faults, given_plan) : faults
    if (faults.length > 0) return { ok: false, faults: placed } as const
    return { ok: true, plan, run, root, order, contract, preview } as const
  }

  #around(catalog: Catalog) {
    const { cwd, store, preparation } = this.parts
    return planSurroundings({ cwd, store, catalog, delegation: preparation.delegation })
  }

  async #plan(
    ordered: Omit<PlanOrder, 'model' | 'max_concurrent' | 'read_only'>,
    given: PlanOptions,
    instead?: string,
  ) {
    const { maxConcurrent, model, delegation, approve: _, ...options } = await this.parts.callers.inSession(given)
    const { catalog, max_concurrent, mode } = await this.#begin(options, { model, maxConcurrent })
    const chosen = await this.#model(model, instead)
    const read_only = mode === 'plan'
    const order: PlanOrder = { ...ordered, model: chosen, read_only, max_concurrent }
    const root = {
      ...{ catalog, as: null, said: order.goal, goal: order.goal },
      ...{ model: planModel(), source: 'request' as const, child_models: [chosen], max_concurrent },
    } as const
    const needed = order.plan ? mostAgents(order.plan) : mostAgentsForGoal(order.research.length)
    const budget = fanOutBudget(needed, [this.parts.settings.budget, options.budget])
    // In plan mode it could hand out nothing: that is for whoever does the steps.
    const contract = { mode: read_only ? 'normal' : mode, budget, delegation: fanOutDepth(delegation) } as const
    return { order, root, run: { ...options, ...contract, task: planTask(order) } }
  }

  /** What every program's run needs. */
  async #begin(
    { principal, mode: asked }: Pick<Common, 'principal' | 'mode'>,
    { model, maxConcurrent }: { model: string | undefined; maxConcurrent: number | undefined },
  ) {
    const { settings, catalogs, callers } = this.parts
    const mode = asked ?? settings.mode ?? 'normal'
    callers.operator(principal, mode)
    noProgram(model)
    const catalog = await catalogs.load()
    const obstacle = fanOutObstacle(settings)
    if (obstacle !== null) throw new RetinueError('input', obstacle)
    return {
      catalog,
      max_concurrent: maxConcurrent ?? settings.max_concurrent ?? DEFAULT_CONCURRENT,
      mode,
    }
  }

  /** `instead`: where there is none to be had, and nothing will be asked of it. */
  async #model(asked: string | undefined, instead?: string): Promise<string> {
    try {
      return (await this.parts.preparation.chooseModel(asked, null)).model.name
    } catch (error) {
      if (instead !== undefined && error instanceof RetinueError && error.code === 'auth') return instead
      throw error
    }
  }
}

/** A program stands in for a model in its own runs alone. */
export function noProgram(model: string | undefined): void {
  if (model?.startsWith(`${PROGRAM}/`)) {
    throw new RetinueError('input', `${model} is no model: hand out tasks with fanOut, or plans with executePlan`)
  }
}
