import type { Contract, PlanOptions, Retinue } from '../../index.js'

/** How a run carries out its plan, for one that is to be checked as the run would check it. */
export async function optionsOfRun(retinue: Retinue, run_id: string): Promise<PlanOptions> {
  const root = (await retinue.agents(run_id)).find(({ parent_id }) => parent_id === null)
  if (!root) return {}
  const { model, permissions, execution } = JSON.parse(root.context_json) as Contract
  const { mode, network } = permissions
  const chosen = model.allowed.find((name) => !name.startsWith('program/'))
  return { mode, network, budget: execution.budget, ...(chosen === undefined ? {} : { model: chosen }) }
}
