import type * as Yaml from 'yaml'
import { type Check, PLAN_DEFAULTS, type Plan, type PlanStep, STEP_DEFAULTS, titleOf } from '../domain/index.js'
import { loadYaml } from './plan-yaml.js'

const HEADER = ` A plan for Retinue: what is to be done, by whom, in which order, and how it is checked.
 Change it as you like and carry it out with: retinue plan run <file>`

/** As a file that a person reads and edits: what is as usual is left out. */
export function writePlan(plan: Plan): string {
  const yaml = loadYaml()
  const document = new yaml.Document(written(plan))
  document.commentBefore = HEADER
  yaml.visit(document, {
    Pair: (_, { key, value }) => {
      if (!yaml.isScalar(key) || !yaml.isSeq(value)) return
      // Short names read best in one line.
      if (key.value === 'depends_on' || key.value === 'inputs') value.flow = true
      if (key.value === 'steps') apart(yaml, value)
    },
  })
  return document.toString({ lineWidth: 100, blockQuote: 'literal' })
}

/** A blank line before each step but the first. */
function apart(yaml: typeof Yaml, { items }: Yaml.YAMLSeq): void {
  for (const item of items.slice(1)) if (yaml.isNode(item)) item.spaceBefore = true
}

function written({ version, goal, steps, ...rest }: Plan): object {
  const { assumptions, completion_criteria, checks, on_failure, replans, repair_rounds, max_concurrent } = rest
  const ids = steps.map(({ id }) => id)
  const all = { assumptions, completion_criteria, checks: checks.map(writtenCheck), on_failure, replans, repair_rounds }
  return {
    ...{ version, goal },
    ...unusual(all, PLAN_DEFAULTS),
    ...(max_concurrent === undefined ? {} : { max_concurrent }),
    steps: steps.map((step, i) => writtenStep(step, i, ids)),
  }
}

function writtenStep(step: PlanStep, index: number, ids: readonly string[]): object {
  const { id, title, description, agent, depends_on, owns, inputs, label } = step
  const { success_criteria, checks, budget, needs_approval, retries } = step
  const isPlace = (name: string) => String(Number(name)) === name && ids[Number(name) - 1] === name
  const reference = (name: string) => (isPlace(name) ? Number(name) : name)
  return {
    ...(id === String(index + 1) ? {} : { id }),
    ...(title === titleOf(description) ? {} : { title }),
    ...unusual({ agent }, STEP_DEFAULTS),
    ...(label === undefined ? {} : { label }),
    description,
    ...unusual({ depends_on: depends_on.map(reference) }, STEP_DEFAULTS),
    ...(isSame(inputs, depends_on) ? {} : { inputs: inputs.map(reference) }),
    ...(owns === undefined ? {} : { owns }),
    ...unusual({ success_criteria, checks: checks.map(writtenCheck), budget, needs_approval, retries }, STEP_DEFAULTS),
  }
}

function writtenCheck(check: Check): Check | string {
  return check.kind === 'command' ? check.command : check
}

/** What is not as it would be if nobody said anything. */
function unusual(values: object, usual: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(value, usual[name])))
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
