import {
  DELEGATION_BOUNDS,
  MAX_STEPS,
  onFailureSchema,
  PLAN_BOUNDS,
  PLAN_DEFAULTS,
  type Plan,
  planSchema,
  quoted,
} from '../domain/index.js'
import { type FaultAt, Fields, isMapping } from './plan-fields.js'
import { orderSteps } from './plan-order.js'
import { checksOf, readStep } from './plan-steps.js'

const NAMES = Object.keys(planSchema.shape)

/** A plan from a value, with everything filled in that may be left out, and every fault. It is sound if there is none. */
export function readPlanValue(value: unknown): { plan: Plan; faults: FaultAt[] } | { plan: null; faults: FaultAt[] } {
  const faults: FaultAt[] = []
  const only = (path: FaultAt['path'], message: string) => ({ plan: null, faults: [{ path, message }] })
  if (value === null || value === undefined) return only([], 'there is no plan here: it needs version, goal and steps')
  if (!isMapping(value)) return only([], `a plan is a mapping with version, goal and steps, not ${quoted(value)}`)
  const version = versionFault(value.version)
  // Nobody knows what else another version has.
  if (version !== null && value.version !== undefined) return only(['version'], version)

  const fields = new Fields(value, [], faults, NAMES)
  if (version !== null) fields.no('version', version)
  const max_concurrent = fields.whole('max_concurrent', DELEGATION_BOUNDS.max_concurrent)
  const plan: Plan = {
    version: 1,
    goal: fields.needed('goal', 'say what is to be reached'),
    assumptions: fields.texts('assumptions') ?? [...PLAN_DEFAULTS.assumptions],
    completion_criteria: fields.texts('completion_criteria') ?? [...PLAN_DEFAULTS.completion_criteria],
    checks: checksOf(fields, faults, 'whole') ?? [...PLAN_DEFAULTS.checks],
    on_failure: fields.oneOf('on_failure', onFailureSchema.options) ?? PLAN_DEFAULTS.on_failure,
    replans: fields.whole('replans', PLAN_BOUNDS.replans) ?? PLAN_DEFAULTS.replans,
    repair_rounds: fields.whole('repair_rounds', PLAN_BOUNDS.repair_rounds) ?? PLAN_DEFAULTS.repair_rounds,
    ...(max_concurrent === undefined ? {} : { max_concurrent }),
    steps: stepsOf(fields, faults),
  }
  return { plan, faults }
}

function versionFault(version: unknown): string | null {
  if (version === 1) return null
  if (version === undefined) return 'is missing: write version: 1 at the top'
  if (version === '1') return 'must be the number 1, not a text: take the quotes away'
  return `there is no version ${quoted(version)} of plans: this is written for another Retinue, or should say version: 1`
}

function stepsOf(fields: Fields, faults: FaultAt[]): Plan['steps'] {
  const found = fields.is('steps', null) ? null : fields.get('steps')
  if (found === null || found === undefined) {
    fields.no('steps', `${found === null ? 'has no value' : 'is missing'}: list what is to be done`)
    return []
  }
  if (!Array.isArray(found)) {
    fields.no('steps', `must be a list of steps, not ${quoted(found)}`)
    return []
  }
  if (found.length === 0) fields.no('steps', 'is empty: a plan has at least one step')
  if (found.length > MAX_STEPS) {
    fields.no(
      'steps',
      `has ${found.length} steps, and at most ${MAX_STEPS} are possible: make larger ones, or several plans`,
    )
  }
  const drafts = found.map((step: unknown, i) => readStep(step, ['steps', i], faults))
  // Of more nobody asks what order they have, and to find that out takes long.
  return found.length > MAX_STEPS ? [] : orderSteps(drafts, faults)
}
