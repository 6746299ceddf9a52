import type { Child, Contract, DelegationRequest } from '../domain/index.js'
import { checksOf } from './launcher.js'

/** A merge that failed: the files, and a commit of it in which both sides are marked in them. */
export type Conflict = { paths: string[]; base: string }

/** What a sub-agent is asked for that gets both sides of a conflict and must resolve it, under the same gates. */
export function repairRequest(child: Child, { paths }: Conflict): DelegationRequest {
  const task = [
    `The changes that sub-agent ${child.id} made conflict with what others changed meanwhile, in: ${paths.join(', ')}`,
    'Both sides are in these files, between <<<<<<< and >>>>>>>; everything else is merged already. Resolve each conflict so that what both sides are for is kept. No such marker may be left.',
    `What ${child.id} was to do:\n${child.contract?.step.description ?? child.title}`,
  ].join('\n\n')
  return {
    task,
    title: `Resolve the conflict of ${child.id}: ${child.title}`,
    ...(child.contract ? sameAs(child.contract) : {}),
    checks: [{ kind: 'paths', unmarked: paths }, ...checksOf(child)],
  }
}

/** It can do and spend no more than the one that it repairs. */
function sameAs({ agent, permissions, workspace, model, step, execution }: Contract): Partial<DelegationRequest> {
  const profile = agent.handle ?? agent.profile_id
  return {
    ...(profile === null ? {} : { profile }),
    at_most: permissions,
    owns: workspace.owns,
    model: `${model.provider}/${model.model}`,
    budget: execution.budget,
    success_criteria: step.success_criteria,
  }
}
