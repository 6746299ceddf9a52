import { expect, it } from 'vitest'
import type { GoalOptions, PlanOptions } from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { comeTo, planOf, STEP, scene } from '../support/plan-attacks.js'

const DONE = [{ text: 'Done.' }]

it('a plan and options that are changed after executePlan change nothing', async () => {
  const { retinue } = await scene({ 'a*': DONE })
  const plan = planOf({ steps: [{ ...STEP, owns: [] }] })
  const options = { budget: { sub_agents: 7 }, mode: 'auto' } as PlanOptions & { budget: { sub_agents: number } }
  const run = retinue.executePlan(plan, options)
  plan.goal = 'Something else'
  options.budget.sub_agents = 1000
  options.mode = 'dangerous'
  const { outcome, log } = await comeTo(run)
  const [root] = dataOf(log, 'agent.started')
  expect(outcome.goal).toBe('Do it')
  expect(root?.contract.execution.budget.sub_agents).toBe(7)
  expect(root?.contract.permissions.mode).toBe('auto')
})

it('questions and options that are changed after planForGoal change nothing', async () => {
  const { retinue } = await scene({ a1: DONE, 'a*': [{ text: JSON.stringify(planOf()) }] })
  const research = ['What is there?']
  const budget = { sub_agents: 7 }
  const options: GoalOptions = { research, budget, execute: false }
  const run = retinue.planForGoal('Do it', options)
  research.push('Anything else?')
  budget.sub_agents = 1
  options.execute = true
  const { outcome, log } = await comeTo(run)
  expect(dataOf(log, 'agent.started')[0]?.contract.execution.budget.sub_agents).toBe(7)
  expect(outcome.status).toBe('made')
  expect(outcome.steps.map(({ id }) => id)).toEqual(['research-1', 'plan-1'])
})

it('a plan and options that are changed after checkPlan change nothing', async () => {
  const { retinue } = await scene({})
  const owns = ['mine/**']
  const plan = planOf({ steps: [{ ...STEP, owns }] })
  const options: PlanOptions = { budget: { sub_agents: 5 } }
  const checked = retinue.checkPlan(plan, options)
  owns.push('theirs/**')
  Object.assign(options.budget as object, { sub_agents: 0 })
  expect(await checked).toMatchObject({ ok: true, plan: { steps: [{ owns: ['mine/**'] }] } })
})

it('options that cannot be written down are said to be so', async () => {
  const { retinue } = await scene({})
  const options = { budget: { sub_agents: () => 5 } } as unknown as PlanOptions
  await expect(retinue.checkPlan(planOf(), options)).rejects.toMatchObject({ code: 'input' })
  await expect(retinue.executePlan(planOf(), options).result()).rejects.toMatchObject({ code: 'input' })
  expect(await retinue.runs()).toEqual([])
})
