import type { PlanState, StepSpec, StepState } from '../domain/index.js'
import type { PlanFault } from './faults.js'
import { planJsonSchema } from './plan-answer.js'
import { stepSpec } from './steps.js'

/** How often a planner may try, the first time included. */
export const MOST_TRIES = 3

/** What a researcher is asked where nobody says what to find out. */
const GENERAL_QUESTION =
  'Find out what somebody has to know before they plan this: which files it is about and what is in them, what depends on those, and by which commands the project is built and tested.'

/** The questions that are answered before anything is planned. */
export function questionsOf(research: boolean | readonly string[] | undefined): string[] {
  if (research === true) return [GENERAL_QUESTION]
  return research === false || research === undefined ? [] : [...research]
}

export function researchSteps(goal: string, questions: readonly string[]): StepSpec[] {
  return questions.map((question, i) =>
    stepSpec('research', {
      id: `research-${i + 1}`,
      title: question === GENERAL_QUESTION ? 'What there is that the goal has to do with' : question,
      description: question,
      agent: 'researcher',
      context: `You are asked before a plan is made for this goal: ${goal}`,
    }),
  )
}

/** Who there is to do the steps. */
export type Agents = readonly { name: string; description: string }[]

type Wanted = {
  goal: string
  /** What whoever wants the plan says besides. */
  context: string
  agents: Agents
  /** Whether commands are run at all without asking: checks that are not would only be sent back. */
  commands: boolean
  /** Why nobody can write, or null: steps that own files would only be sent back. */
  unwritable?: string | null
}

/** Which of its tries it is, and what was wrong with the plan before. */
type Try = { attempt: number; faults: readonly PlanFault[] }

/** The planner's step: the first, or one that is told what was wrong with the plan before. */
export function planningStep(
  { goal, context, ...around }: Wanted,
  state: PlanState | null,
  { attempt, faults }: Try,
): StepSpec {
  const found = (state?.steps ?? []).filter(({ stage, ended }) => stage === 'research' && ended?.status === 'completed')
  return stepSpec('plan', {
    id: `plan-${attempt}`,
    title: attempt === 1 ? `A plan for: ${goal}` : `A plan without the faults of the one before, for: ${goal}`,
    description: `Make a plan for this goal:\n\n${goal}`,
    agent: 'planner',
    inputs: [...found.map(({ id }) => id), ...before('plan', attempt)],
    context: [context, guide(around), mending(faults)].filter((part) => part !== '').join('\n\n'),
  })
}

/** The planner is asked for another rest, because a step failed. */
export function replanningStep(
  { goal, context, ...around }: Wanted,
  { steps, revision }: PlanState,
  { attempt, faults }: Try,
): StepSpec {
  const name = `replan-${revision}`
  const failed = steps.filter(
    (step) => step.revision === revision && step.stage === 'work' && step.ended?.status === 'failed',
  )
  const open = steps.filter(
    (step) => step.revision === revision && step.stage === 'work' && step.ended?.status === 'skipped',
  )
  const done = steps.filter(({ stage, ended }) => stage === 'work' && ended?.status === 'completed')
  const about = [
    line('Done, and not to be done again', done),
    ...failed.map((step) => `Failed: ${step.title}: ${step.ended?.reason ?? ''}`.slice(0, 3000)),
    line('Not begun', open),
  ]
  return stepSpec('plan', {
    id: `${name}-${attempt}`,
    title: `Another rest of the plan, because ${failed.map(({ id }) => `step ${id}`).join(', ')} failed`,
    description: `A plan for this goal could not be carried out to its end:\n\n${goal}\n\nPlan what is left to do, in another way. Only the steps that are still to be done.`,
    agent: 'planner',
    inputs: [...done.slice(-5).map(({ id }) => id), ...before(name, attempt)],
    context: [context, about.filter((part) => part !== '').join('\n'), guide(around), mending(faults)]
      .filter((part) => part !== '')
      .join('\n\n'),
  })
}

function before(name: string, attempt: number): string[] {
  return attempt > 1 ? [`${name}-${attempt - 1}`] : []
}

function line(title: string, steps: readonly StepState[]): string {
  return steps.length === 0 ? '' : `${title}: ${steps.map((step) => step.title).join('; ')}`
}

function guide({ agents, commands, unwritable = null }: Omit<Wanted, 'goal' | 'context'>): string {
  return [
    'Who can do a step (its `agent`):',
    ...agents.map(({ name, description }) => `- ${name}: ${description}`),
    'Each step is done by a sub-agent that knows nothing but its description, its criteria and the results of its `inputs`.',
    unwritable === null
      ? 'A step that writes says in `owns` which files, as globs; steps that own none of the same files are done side by side, so keep them apart.'
      : 'Nothing can be written here: plan steps that only read and report, and leave `owns` out.',
    'Work is put together in the order of the steps.',
    commands
      ? "Let `checks` be commands that prove something here, such as the project's tests."
      : 'Commands are not run here without asking: leave `checks` out, or have them look for files.',
    `Answer with the plan as JSON alone, which fits this schema: ${JSON.stringify(planJsonSchema())}`,
  ].join('\n')
}

function mending(faults: readonly PlanFault[]): string {
  if (faults.length === 0) return ''
  const lines = faults.slice(0, 20).map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message}`)
  return ['The plan before this one, which you are given, cannot be used. Mend it:', ...lines].join('\n')
}
