import { type Budget, type Check, mayOverlap, nearest, type Plan, type PlanStep, quoted } from '../domain/index.js'
import { createSchemaCompiler } from '../tools/index.js'
import { budgetMisfits } from './fault-budgets.js'

export { mostAgents, mostAgentsForGoal } from './agents-needed.js'
export { whyUnwritable } from './unwritable.js'

/** What is wrong with a plan, and where: `steps[2].depends_on`. `line`: of the file it came from, from 1. */
export type PlanFault = { path: string; message: string; line?: number }

/** All of them on one line. */
export function faultsInWords(faults: readonly PlanFault[]): string {
  return faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
}

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
  /** Sub-agents that it had so far: researchers, planners and what was done before. */
  used_agents: number
  /** Why nobody with a label can be had, or null. Absent: whoever makes the plan gives none. */
  labelFault?: (label: string | undefined) => string | null
  /** Why sub-agents cannot write here, in words, or null. */
  unwritable: string | null
  /** Why the command of a check would not be run without asking, or null. */
  refusal: (command: string) => Promise<string | null>
}

/** What is wrong with a plan here and now. Empty: it can be carried out. */
export async function planFaults(plan: Plan, around: PlanSurroundings): Promise<PlanFault[]> {
  const whole = await checkFaults(plan.checks, 'checks', around)
  const steps = await Promise.all(
    plan.steps.map(async (step, i) => [
      ...agentFaults(step, `steps[${i}]`, around),
      ...labelFaults(step, `steps[${i}].label`, around),
      ...writeFaults(step, `steps[${i}]`, around),
      ...(await checkFaults(step.checks, `steps[${i}].checks`, around)),
    ]),
  )
  return [
    ...roleFaults(plan, around),
    ...whole,
    ...steps.flat(),
    ...budgetMisfits(plan, around.budget, around.used_agents),
  ]
}

/** Whoever looks at the result and mends it has to be there before anything is done. */
function roleFaults(plan: Plan, { agent }: PlanSurroundings): PlanFault[] {
  const { completion_criteria, checks, repair_rounds, on_failure, replans } = plan
  const mends = repair_rounds > 0 && (completion_criteria.length > 0 || checks.length > 0)
  const needs: { role: string; path: string; wanted: boolean }[] = [
    { role: 'reviewer', path: 'completion_criteria', wanted: completion_criteria.length > 0 },
    { role: 'executor', path: 'repair_rounds', wanted: mends },
    { role: 'planner', path: 'on_failure', wanted: on_failure === 'replan' && replans > 0 },
  ]
  return needs
    .filter(({ role, wanted }) => wanted && agent(role) === null)
    .map(({ role, path }) => {
      const message = `needs the role ${role}, which the settings take away (delegation.roles): give it back, or do without`
      return { path, message }
    })
}

function labelFaults({ label }: PlanStep, path: string, { labelFault }: PlanSurroundings): PlanFault[] {
  const message = labelFault?.(label) ?? null
  return message === null ? [] : [{ path, message }]
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

/** A step that says what it writes would be paid for and leave nothing behind. */
function writeFaults({ agent, owns = [] }: PlanStep, path: string, around: PlanSurroundings): PlanFault[] {
  if (around.unwritable === null || owns.length === 0) return []
  // One whose agent writes nothing anywhere is told so.
  if (agent !== null && around.agent(agent)?.write_paths?.length === 0) return []
  return [{ path: `${path}.owns`, message: `nothing can be written here: ${around.unwritable}` }]
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
