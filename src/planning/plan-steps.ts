import {
  type Budget,
  budgetFaults,
  budgetSchema,
  type Check,
  globFault,
  isProtected,
  LABEL,
  LABEL_FAULT,
  type LimitName,
  MIN_CHILD_TOKENS,
  PLAN_BOUNDS,
  type PlanStep,
  planStepSchema,
  quoted,
  STEP_DEFAULTS,
  STEP_ID,
  titleOf,
} from '../domain/index.js'
import { readCheck } from './plan-checks.js'
import { type FaultAt, Fields, isMapping, type Path } from './plan-fields.js'

/** How a step names another: by its id, or by its place in the list, from 1. */
export type Reference = { value: unknown; path: Path }

/** A step as it is written, before it is known what those are that it names. */
export type StepDraft = {
  path: Path
  /** null: it has none, and is known by its place. */
  own_id: string | null
  step: Omit<PlanStep, 'id' | 'depends_on' | 'inputs'>
  depends_on: Reference[]
  /** null: all that it depends on. */
  inputs: Reference[] | null
}

const NAMES = Object.keys(planStepSchema.shape)

export function readStep(value: unknown, path: Path, faults: FaultAt[]): StepDraft {
  if (!isMapping(value)) {
    const hint = typeof value === 'string' ? ': write description: before it' : ''
    faults.push({ path, message: `must be a step, with at least a description, not ${quoted(value)}${hint}` })
  }
  // What is no step has one fault, and not that of a description besides.
  const fields = new Fields(isMapping(value) ? value : { description: '-' }, path, faults, NAMES)
  const description = fields.needed('description', 'say what is to be done in this step')
  const owns = fields.texts('owns', (glob) => globFault(glob, 'owns') ?? protectedFault(glob))
  const label = fields.text('label', (text) => (LABEL.test(text) ? null : `${quoted(text)} is none: ${LABEL_FAULT}`))
  return {
    path,
    own_id: idOf(fields),
    step: {
      title: fields.text('title') ?? titleOf(description),
      description,
      agent: agentOf(fields),
      ...(label === undefined ? {} : { label }),
      ...(owns === undefined ? {} : { owns }),
      success_criteria: fields.texts('success_criteria') ?? [...STEP_DEFAULTS.success_criteria],
      checks: checksOf(fields, faults, 'step') ?? [...STEP_DEFAULTS.checks],
      budget: budgetOf(fields, faults),
      needs_approval: fields.flag('needs_approval') ?? STEP_DEFAULTS.needs_approval,
      retries: fields.whole('retries', PLAN_BOUNDS.retries) ?? STEP_DEFAULTS.retries,
    },
    depends_on: fields.items('depends_on') ?? [],
    inputs: fields.items('inputs') ?? null,
  }
}

/** Checks of a step or of the whole, as far as they are sound. */
export function checksOf(fields: Fields, faults: FaultAt[], of: 'step' | 'whole'): Check[] | undefined {
  return fields.items('checks')?.flatMap(({ value, path }) => {
    const check = readCheck(value, path, faults)
    if (check?.kind !== 'schema' || of === 'step') return check ?? []
    faults.push({ path, message: 'a schema is for the answer of a step, and the whole has none: move it to a step' })
    return []
  })
}

/** Of researchers, planners, reviewers and those who mend what is found. */
const OWN_ID = /^(?:research|plan|replan|review|repair)-\d/

function idOf(fields: Fields): string | null {
  const found = fields.get('id')
  if (found === undefined) return null
  const id = Number.isInteger(found) ? String(found) : found
  if (typeof id === 'string' && STEP_ID.test(id)) {
    if (OWN_ID.test(id))
      fields.no('id', `${quoted(id)} is a name that Retinue gives to steps of its own: choose another`)
    return id
  }
  const what = 'up to 40 letters, digits, dashes, dots and underscores, with a letter or a digit first'
  fields.no('id', `${quoted(found)} is no id: an id is ${what}`)
  // Others may name it like this, which is no fault of theirs.
  return typeof id === 'string' ? id : null
}

function agentOf(fields: Fields): string | null {
  return fields.is('agent', null) ? null : (fields.text('agent') ?? STEP_DEFAULTS.agent)
}

function protectedFault(glob: string): string | null {
  const path = glob.replace(/^(?:\.\/)+/, '').replace(/(?:\/|\/\*\*)+$/, '')
  return isProtected(path) ? `"${glob}" in owns belongs to git or Retinue, where agents write nothing: remove it` : null
}

const LIMITS = Object.keys(budgetSchema.shape) as LimitName[]

function budgetOf(fields: Fields, faults: FaultAt[]): Partial<Budget> {
  const found = fields.get('budget')
  if (found === undefined) return { ...STEP_DEFAULTS.budget }
  if (!isMapping(found)) {
    fields.no('budget', `must be a mapping of limits, not ${quoted(found)}: there are ${LIMITS.join(', ')}`)
    return {}
  }
  const limits = new Fields(found, fields.at('budget'), faults, LIMITS)
  const budget: Partial<Budget> = {}
  for (const name of LIMITS) {
    if (!limits.has(name)) continue
    const isUnlimited = limits.is(name, null) && budgetSchema.shape[name].safeParse(null).success
    const value = isUnlimited ? null : limits.get(name)
    if (value === undefined) continue
    const message = limitFault(name, value)
    if (message === null) Object.assign(budget, { [name]: value })
    else limits.no(name, message)
  }
  return budget
}

function limitFault(name: LimitName, value: unknown): string | null {
  if (!budgetSchema.shape[name].safeParse(value).success) {
    return `must be ${name === 'cost_usd' ? 'a number' : 'a whole number'}, not ${quoted(value)}`
  }
  const [fault] = budgetFaults({ [name]: value })
  if (fault !== undefined) return `${fault} (it is ${value})`
  if (name === 'total_tokens' && value !== null && (value as number) < MIN_CHILD_TOKENS) {
    return `${name} must be at least ${MIN_CHILD_TOKENS} for a sub-agent (it is ${value})`
  }
  return null
}
