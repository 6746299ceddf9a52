import { describe, expect, it } from 'vitest'
import { mostAgents, mostAgentsForGoal, planFaults, planFrom } from '../../src/planning/index.js'
import { dataOf } from '../support/bench.js'
import { comeTo, planOf, STEP, scene } from '../support/plan-attacks.js'
import { surroundings } from './surroundings.js'

function read(change: object) {
  const made = planFrom(planOf(change))
  if (!made.ok) throw new Error(JSON.stringify(made.faults))
  return made.plan
}

const steps = (count: number, change: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ ...STEP, id: `s${i}`, ...change }))
const criteria = { completion_criteria: ['It is right'] }

describe('sub-agents that a plan may need at most', () => {
  it.each([
    ['each step once', {}, 1],
    ['each step as often as it may be tried', { steps: steps(4, { retries: 2 }) }, 12],
    ['those below a step, each time', { steps: steps(2, { retries: 1, budget: { sub_agents: 3 } }) }, 16],
    ['three reviews with a retry each, and ten repairs', criteria, 1 + 6 + 10],
    ['repairs of checks alone', { checks: ['true'] }, 1 + 10],
    ['a review without repairs', { ...criteria, repair_rounds: 0 }, 1 + 2],
    ['planners and as many steps again', { steps: steps(4), on_failure: 'replan', replans: 2 }, 4 + 2 * (3 + 4)],
  ])('%s', (_, change, expected) => {
    expect(mostAgents(read(change))).toBe(expected)
  })

  it('of a goal: what researchers, planners, steps to come, reviews and repairs are', () => {
    expect(mostAgentsForGoal(2)).toBe(2 + 3 + 25 + 6 + 10)
  })

  it('are what its run has, where nobody says otherwise', async () => {
    const { retinue } = await scene({ 'a*': [{ text: 'Done.' }] })
    const plan = planOf({ steps: steps(60, { retries: 1, owns: [] }) })
    const run = retinue.executePlan(plan)
    const budgets: number[] = []
    for await (const { type, data } of run) {
      if (type !== 'agent.started') continue
      budgets.push(data.contract.execution.budget.sub_agents)
      break
    }
    run.cancel('seen')
    await run.result()
    expect(budgets).toEqual([120])
  })
})

describe('a plan for which there are too few sub-agents', () => {
  const messages = async (change: object, sub_agents: number, used_agents = 0) => {
    const around = surroundings()
    const faults = await planFaults(read(change), { ...around, used_agents, budget: { ...around.budget, sub_agents } })
    return faults.map(({ path, message }) => `${path}: ${message.split(':')[0]}`)
  }

  it.each([
    [{}, 0, 0, '1 step is more than the run has sub-agents, 0'],
    [criteria, 1, 0, '1 step and a review, 2 together, are more than the run has sub-agents, 1'],
    [{ steps: steps(3) }, 5, 3, '3 steps are more than the run has sub-agents, 5, of which 3 are used'],
    [
      { ...criteria, steps: steps(2, { budget: { sub_agents: 1 } }) },
      4,
      0,
      '2 steps, a review and the 2 sub-agents that they may have, 5 together, are more than the run has sub-agents, 4',
    ],
  ])('%j has with %i, %i used, a fault', async (change, sub_agents, used, message) => {
    expect(await messages(change, sub_agents, used)).toEqual([`steps: ${message}`])
  })

  it('has none where the least fits', async () => {
    expect(await messages(criteria, 2)).toEqual([])
    expect(await messages({ steps: steps(3) }, 6, 3)).toEqual([])
  })

  it('made by a planner is sent back with what the planner itself took', async () => {
    const answer = { text: JSON.stringify(planOf({ steps: steps(4) })) }
    const { retinue } = await scene({ 'a*': [answer] })
    const options = { execute: true, approve: 'yes', budget: { sub_agents: 4 } } as const
    const { outcome, log } = await comeTo(retinue.planForGoal('Do it', options))
    expect(outcome.reason).toMatch(/4 steps are more than the run has sub-agents, 4, of which 3 are used/)
    expect(dataOf(log, 'agent.subagent_created')).toHaveLength(3)
  })
})
