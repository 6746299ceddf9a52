import { isDeepStrictEqual as isDeepEqual } from 'node:util'
import { z } from 'zod'
import {
  findingSchema,
  matchesAny,
  mayChange,
  type Plan,
  type PlanState,
  type ReviewFinding,
  type StepSpec,
} from '../domain/index.js'
import { jsonIn } from '../runtime/index.js'
import { stepSpec } from './steps.js'

const verdictSchema = z.strictObject({ summary: z.string(), findings: z.array(findingSchema) })

/** More than this in one round is put together: a repair for every word would cost more than it mends. */
export const MOST_REPAIRS = 5

const DETAIL_CHARS = 1500

/** Whether somebody has to look at the result: where it is said in words when the goal is reached. */
export function wantsReview({ completion_criteria }: Plan): boolean {
  return completion_criteria.length > 0
}

export function reviewStep(plan: Plan, state: PlanState, round: number): StepSpec {
  const done = state.steps.filter(
    ({ stage, ended }) => (stage === 'work' || stage === 'repair') && ended?.status === 'completed',
  )
  const checks = state.checks.filter((check) => check.round === round)
  return stepSpec('review', {
    id: `review-${round + 1}`,
    title: `Whether the goal is reached: ${plan.goal}`,
    description: [
      'Work on a goal is done. Look whether the goal is reached by what is in the files now.',
      `The goal:\n${plan.goal}`,
      `It is reached when:\n${plan.completion_criteria.map((one) => `- ${one}`).join('\n')}`,
      'Report as findings what does not hold, and faults that you can show; each with the files in which it has to be mended. No findings: it is reached.',
    ].join('\n\n'),
    agent: 'reviewer',
    inputs: done.slice(-MOST_REPAIRS).map(({ id }) => id),
    context: checks.map(({ what, passed, detail }) => checkInWords(what, passed, detail)).join('\n'),
    checks: [{ kind: 'schema', schema: z.toJSONSchema(verdictSchema) as Record<string, z.core.util.JSONType> }],
    retries: 1,
  })
}

/** The answer fits the schema, or its step would not be completed. */
export function verdictIn(text: string): z.infer<typeof verdictSchema> | null {
  const parsed = verdictSchema.safeParse(jsonIn(text))
  return parsed.success ? parsed.data : null
}

/** A check of the whole that failed is a fault that nobody has to look for. */
export function failedChecks({ checks }: PlanState, round: number): ReviewFinding[] {
  return checks
    .filter((check) => check.round === round && !check.passed)
    .map(({ what, detail }) => ({
      title: `the check fails: ${what}`,
      description: checkInWords(what, false, detail),
      files: [],
    }))
}

/** One step for each finding, and where there are many, the last for all that are left. */
export function repairSteps(findings: readonly ReviewFinding[], state: PlanState, round: number): StepSpec[] {
  const groups = findings.slice(0, MOST_REPAIRS - 1).map((finding) => [finding])
  const rest = findings.slice(MOST_REPAIRS - 1)
  if (rest.length > 0) groups.push(rest)
  const all = ownedBy(state)
  const review = state.reviews.find((one) => one.round === round)
  const numberOf = (finding: ReviewFinding) => review?.findings.findIndex((one) => isDeepEqual(one, finding)) ?? -1
  return groups.map((group, i) => {
    // A reviewer cannot send somebody where the plan had nobody write.
    const files = group.map((finding) => finding.files.filter((file) => isPlainPath(file) && matchesAny(all, file)))
    return stepSpec('repair', {
      id: `repair-${round + 1}.${i + 1}`,
      title: `Mend: ${group.map(({ title }) => title).join('; ')}`.slice(0, 200),
      description: [
        'A review of finished work found this. Mend it, and nothing else:',
        ...group.map(({ title, description }) => `${title}\n${description}`),
      ].join('\n\n'),
      agent: 'executor',
      owns: files.every((some) => some.length > 0) ? [...new Set(files.flat())] : all,
      inputs: review ? [review.step] : [],
      // A check that failed is no finding of the review.
      mends: group.map(numberOf).filter((number) => number >= 0),
    })
  })
}

/** Whether it stands for the same as a path, which it is matched as, and as a glob, which it is used as. */
function isPlainPath(file: string): boolean {
  return !/[*?{}[\]!\\]/.test(file) && file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** What the steps of the plan could write between them. */
function ownedBy({ steps }: PlanState): string[] {
  const owned = steps.filter((step) => step.stage === 'work' && mayChange(step)).flatMap(({ owns }) => owns ?? ['**'])
  return owned.includes('**') ? ['**'] : [...new Set(owned)]
}

function checkInWords(what: string, passed: boolean, detail: string): string {
  return passed ? `This check passes: ${what}` : `This check fails: ${what}\n${detail.slice(0, DETAIL_CHARS)}`
}
