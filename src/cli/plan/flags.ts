import { type GoalOptions, type PlanOptions, RetinueError } from '../../index.js'
import { asked, type ContractFlags } from '../contract-flags.js'

/** What the command line says about how a plan is made. */
export type ResearchFlags = {
  /** True stands for the question that is asked where nobody gave one; false with --no-research. */
  research?: boolean | (string | true)[]
}

/** What the options of the command line say about a run of a plan. */
export function planOptions(flags: ContractFlags): PlanOptions {
  const { agent } = flags
  if (agent !== undefined) {
    const flag = agent === false ? '--no-agent' : '--agent'
    throw new RetinueError('input', `Each step of a plan has an agent of its own: leave out ${flag}`)
  }
  const { profile: _, ...options } = asked(flags)
  return options
}

export function researchOf({ research = true }: ResearchFlags): NonNullable<GoalOptions['research']> {
  if (!Array.isArray(research)) return research
  const questions = research.filter((question) => question !== true)
  return questions.length === 0 ? true : questions
}
