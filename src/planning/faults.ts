import { nearest, quoted } from '../control/index.js'
import { type Budget, type Check, mayOverlap, type Plan, type PlanStep } from '../domain/index.js'
import { createSchemaCompiler } from '../tools/index.js'
import { budgetMisfits } from './fault-budgets.js'

/** What is wrong with a plan, and where: `steps[2].depends_on`. `line`: of the file it came from, from 1. */
export type PlanFault = { path: string; message: string; line?: number }

/** What a step's agent is, as far as a plan depends on it. */
export type AgentFacts = {
  name: string
  /** Globs of what it may write. null: all that whoever delegates may. Empty: nothing. */
  write_paths: string[] | null
  budget: Partial<Budget>
}

/** What there is around a plan when it is going to be carried out. */
export type PlanSurroundings = {
  /** By the name of a role or profile, or by a handle; null: there is none of that name. */
  agent: (name: string) => AgentFacts | null
  /** Names to choose from, for messages. */
  agents: readonly string[]
  /** What the run may spend. */
  budget: Budget
  /** Why the command of a check would not be run without asking, or null. */
  refusal: (command: string) => Promise<string | null>
}

/** What is wrong with a plan here and now. Empty: it can be carried out. */
export async function planFaults(plan: Plan, around: PlanSurroundings): Promise<PlanFault[]> {
  const whole = await checkFaults(plan.checks, 'checks', around)
  const steps = await Promise.all(
    plan.steps.map(async (step, i) => [
      ...agentFaults(step, `steps[${i}]`, around),
      ...(await checkFaults(step.checks, `steps[${i}].checks`, around)),
    ]),
  )
  return [...roleFaults(plan, around), ...whole, ...steps.flat(), ...budgetMisfits(plan, around.budget)]
}

/** Whoever looks at the result and mends it has to be there before anything is done. */
function roleFaults({ completion_criteria, repair_rounds }: Plan, { agent }: PlanSurroundings): PlanFault[] {
  if (completion_criteria.length === 0) return []
  const roles = repair_rounds > 0 ? ['reviewer', 'executor'] : ['reviewer']
  const missing = roles.filter((role) => agent(role) === null)
  if (missing.length === 0) return []
  const message = `need the ${missing.length === 1 ? 'role' : 'roles'} ${missing.join(' and ')}, which the settings take away (delegation.roles): give them back, or say it as checks`
  return [{ path: 'completion_criteria', message }]
}

function agentFaults({ agent, owns = [] }: PlanStep, path: string, around: PlanSurroundings): PlanFault[] {
  if (agent === null) return []
  const facts = around.agent(agent)
  if (facts === null) {
    const near = nearest(agent, around.agents)
    const others = around.agents.length === 0 ? 'there is none' : `there are ${around.agents.join(', ')}`
    const hint = near === null ? others : `did you mean ${near}?`
    return [{ path: `${path}.agent`, message: `there is no agent ${quoted(agent)}: ${hint}` }]
  }
  const { write_paths } = facts
  if (write_paths === null) return []
  if (write_paths.length === 0 && owns.length > 0) {
    const message = `${agent} writes nothing: give the step to another agent, or take owns away`
    return [{ path: `${path}.owns`, message }]
  }
  return owns.flatMap((glob, i) => {
    if (mayOverlap([glob], write_paths)) return []
    const message = `${agent} writes in ${write_paths.join(', ')} alone, and nothing of "${glob}" is there: give the step to another agent, or change owns`
    return [{ path: `${path}.owns[${i}]`, message }]
  })
}

async function checkFaults(checks: readonly Check[], path: string, around: PlanSurroundings): Promise<PlanFault[]> {
  const messages = await Promise.all(checks.map((check) => checkFault(check, around)))
  return messages.flatMap((message, i) => (message === null ? [] : [{ path: `${path}[${i}]`, message }]))
}

async function checkFault(check: Check, { refusal }: PlanSurroundings): Promise<string | null> {
  if (check.kind === 'paths') return null
  if (check.kind === 'schema') {
    const compiled = (await createSchemaCompiler())(check.schema)
    return compiled.ok ? null : compiled.message
  }
  const reason = await refusal(check.command)
  if (reason === null) return null
  return `${quoted(check.command)} would not be run: ${reason}. Allow it (--mode auto, or a rule), or check it otherwise`
}
