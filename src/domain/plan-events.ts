import { z } from 'zod'
import { plural } from './amounts.js'
import { define, oneLine } from './define-event.js'
import { findingSchema, planSchema, stepSpecSchema, stepStatusSchema } from './plan.js'

/** The call that carries the plan out: one agent may have several. */
const plan = { call_id: z.string() }
const step = { ...plan, step: z.string() }

/** Who made it: a person in a file or an editor, the planner, a program. */
const author = z.enum(['person', 'planner', 'program'])

const faultSchema = z.strictObject({ path: z.string(), message: z.string() })

/** One of the checks of the whole, and after how many rounds of mending. */
const check = {
  ...plan,
  round: z.int().min(0),
  check: z.int().min(0),
  kind: z.enum(['command', 'schema', 'paths']),
  what: z.string(),
}

/** What happens to a plan, in the stream of the agent that carries it out. Its sub-agents have events of their own. */
export const PLAN_DEFINITIONS = [
  define(
    'plan.steps_added',
    z.strictObject({ ...plan, steps: z.array(stepSpecSchema).min(1) }),
    (d) => `steps: ${d.steps.map(({ title }) => oneLine(title)).join('; ')}`,
  ),
  define(
    'plan.proposed',
    z.strictObject({ ...plan, plan: planSchema, by: author, reason: z.string().nullable() }),
    (d) => `${d.by} proposes a plan of ${plural(d.plan.steps.length, 'step')}`,
  ),
  define(
    'plan.adopted',
    z.strictObject({
      ...plan,
      revision: z.int().min(1),
      plan: planSchema,
      by: author,
      /** Why it takes the place of the one before. null: it is the first. */
      reason: z.string().nullable(),
      /** Its steps that are new, in the order in which their work is integrated. */
      steps: z.array(stepSpecSchema),
    }),
    (d) =>
      `${d.revision === 1 ? 'plan' : `revision ${d.revision} of the plan`} by ${d.by}: ${plural(d.steps.length, 'step')}${d.reason === null ? '' : `, ${oneLine(d.reason)}`}`,
  ),
  define(
    'plan.approval_asked',
    z.strictObject({
      ...plan,
      /** null: the plan as a whole. */
      step: z.string().nullable(),
      /** Of what a person made of it before, which is why it is asked again. Absent: there are none. */
      faults: z.array(faultSchema).optional(),
    }),
    (d) => (d.step === null ? 'asks whether to carry the plan out' : `asks whether to begin step ${d.step}`),
  ),
  define(
    'plan.approval_answered',
    z.strictObject({
      ...plan,
      step: z.string().nullable(),
      answer: z.enum(['approved', 'declined']),
      by: z.string(),
      note: z.string().nullable(),
    }),
    (d) => `${d.by} ${d.answer} ${d.step === null ? 'the plan' : `step ${d.step}`}`,
  ),
  define(
    'plan.step_started',
    z.strictObject({
      ...step,
      attempt: z.int().min(1),
      /** Which of the sub-agents of its call does it. */
      index: z.int().min(0),
    }),
    (d) => `step ${d.step} begins${d.attempt > 1 ? ` again (${d.attempt})` : ''}`,
  ),
  define(
    'plan.step_ended',
    z.strictObject({
      ...step,
      status: stepStatusSchema,
      /** The last that worked on it. null: nobody did. */
      sub_agent_id: z.string().nullable(),
      /** Why it is not completed. */
      reason: z.string().nullable(),
    }),
    (d) => `step ${d.step} ${d.status}${d.reason === null ? '' : `: ${oneLine(d.reason)}`}`,
  ),
  define(
    'plan.check_started',
    z.strictObject({
      ...check,
      /** What it looks at, and what its tree is put back to. null: there is no tree that is the agent's own. */
      commit: z.string().nullable(),
    }),
    (d) => `checks the whole: ${oneLine(d.what)}`,
  ),
  define(
    'plan.checked',
    z.strictObject({
      ...check,
      passed: z.boolean(),
      /** Why not, or what came out: its beginning and end. */
      detail: z.string(),
      /** The whole output, where `detail` is a cut. */
      output: z.strictObject({ digest: z.string(), bytes: z.int() }).nullable(),
      duration_ms: z.int(),
    }),
    (d) => `check of the whole ${d.passed ? 'passed' : 'failed'}: ${oneLine(d.what)}`,
  ),
  define(
    'plan.reviewed',
    z.strictObject({
      ...step,
      round: z.int().min(0),
      summary: z.string(),
      findings: z.array(findingSchema),
    }),
    (d) =>
      d.findings.length === 0
        ? 'the review found nothing'
        : `the review found: ${d.findings.map(({ title }) => oneLine(title)).join('; ')}`,
  ),
  define(
    'plan.ended',
    z.strictObject({
      ...plan,
      /** `made`: all that was asked for was the plan. `left`: nobody said yes to it. */
      status: z.enum(['completed', 'failed', 'made', 'left']),
      reason: z.string().nullable(),
    }),
    (d) => `plan ${d.status}${d.reason === null ? '' : `: ${oneLine(d.reason)}`}`,
  ),
] as const
