import type { Contract, Plan, PlanOptions, Retinue, RunSummary } from '../../index.js'
import type { ContractFlags } from '../contract-flags.js'
import { planOptions } from './flags.js'

/** What is of interest here of what a run of a plan was told to do. `plan`: null where it was to be made. */
type Order = { plan: Plan | null; model: string; read_only: boolean }

/** What the command line says, on top of how the run went about it whose plan this is. */
export async function optionsFor(retinue: Retinue, run: RunSummary | null, flags: ContractFlags): Promise<PlanOptions> {
  const given = planOptions(flags)
  if (!run?.plan) return given
  const known = await optionsOfRun(retinue, run)
  return { ...known, ...given, budget: { ...known.budget, ...given.budget } }
}

/** How a run carries out its plan, for one that is to be checked or carried out as the run would. */
export async function optionsOfRun(retinue: Retinue, { run_id, task }: RunSummary): Promise<PlanOptions> {
  const root = (await retinue.agents(run_id)).find(({ parent_id }) => parent_id === null)
  if (!root) return {}
  const { permissions, execution, workspace } = JSON.parse(root.context_json) as Contract
  const { mode, network, max_delegation_depth: max_depth } = permissions
  const { model, read_only } = orderOf({ task })
  return {
    // The program at its root hands out steps in normal mode; those who do them are in plan mode.
    mode: read_only ? 'plan' : mode,
    ...{ network, model, budget: execution.budget, delegation: { max_depth } },
    ...(workspace.land === undefined ? {} : { land: workspace.land }),
  }
}

/** A program's task is a title and its order, with an empty line between. */
export function orderOf({ task }: Pick<RunSummary, 'task'>): Order {
  return JSON.parse(task.slice(task.indexOf('\n\n') + 2)) as Order
}
