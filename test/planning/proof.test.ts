import { describe, expect, it } from 'vitest'
import type { PlanOutcome, StoredEvent } from '../../src/index.js'
import { family, gate, retinueIn } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { tree } from '../support/project.js'

const DONE = { text: 'Done.' }
const AUTO = { settings: { mode: 'auto' } } as const
/** Of each sub-agent. */
const FEW = { approve: 'yes', budget: { tool_calls: 2 } } as const
const VERDICT = { text: JSON.stringify({ summary: 'I could not look at all of it.', findings: [] }) }

const look = { calls: [{ list_dir: { path: '.' } }] }
const write = (path: string) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })
const written = [write('mine/b.txt'), DONE]
/** Wants more calls than it may make. */
const cut = (report: object, first: object = look) => ({ steps: [first, look, look], report: [report] }) as never

const steps = ({ steps }: PlanOutcome) => steps.map(({ id, status, incomplete }) => [id, status, incomplete])

describe('an agent whose budget ended', () => {
  it('has not found that the goal is reached', async () => {
    const { retinue, cwd } = await family({ a1: written, a2: cut(VERDICT), a3: cut(VERDICT) }, AUTO)
    const run = retinue.executePlan(planOf({ completion_criteria: ['It is right'] }), FEW)
    const outcome = await run.outcome()
    expect(outcome.status).toBe('failed')
    expect(outcome.reason).toMatch(/^the review was not finished: .*tool calls/)
    expect(dataOf(await retinue.events(run.run_id), 'plan.reviewed')).toEqual([])
    expect((await run.result()).outcome).toBe('error')
    expect(tree(cwd)).toEqual({})
  })

  it('has made no plan', async () => {
    const { retinue } = await family({ a1: cut({ text: JSON.stringify(planOf()) }) }, AUTO)
    const run = retinue.planForGoal('Do it', { ...FEW, execute: true })
    const outcome = await run.outcome()
    expect([outcome.status, outcome.plan, steps(outcome)]).toEqual(['failed', null, [['plan-1', 'completed', true]]])
    expect(outcome.reason).toMatch(/^the planner did not get to the end of its plan: .*tool calls/)
  })

  const half = cut({ text: 'Half of it.' }, write('mine/b.txt'))

  it('is followed by another where its step may be tried again, which is told so', async () => {
    const { retinue, cwd, model } = await family(
      {
        a1: half,
        a2: [
          {
            expect: { contains: ['did not get to the end: budget_exceeded', 'What it did is there.'] },
            ...write('mine/c.txt'),
          },
          DONE,
        ],
      },
      AUTO,
    )
    const outcome = await retinue.executePlan(planOf({ steps: [{ ...STEP, retries: 1 }] }), FEW).outcome()
    expect([outcome.status, outcome.reason, steps(outcome)]).toEqual(['completed', null, [['one', 'completed', false]]])
    expect(tree(cwd)).toEqual({ 'mine/b.txt': 'x\n', 'mine/c.txt': 'x\n' })
    model.assertAllUsed()
  })

  it('has not done its step where nothing else proves it', async () => {
    const { retinue, cwd } = await family({ a1: half }, AUTO)
    const run = retinue.executePlan(planOf(), FEW)
    const outcome = await run.outcome()
    expect([outcome.status, outcome.reason, steps(outcome)]).toEqual([
      'failed',
      'step one did not get to its end, and nothing proves that it is enough',
      [['one', 'completed', true]],
    ])
    expect((await run.result()).outcome).toBe('error')
    expect(tree(cwd)).toEqual({})
  })

  it.each([
    ['a check of the whole', { checks: [{ exist: ['mine/b.txt'] }] }, {}],
    ['a review', { completion_criteria: ['It is right'] }, { a2: [VERDICT] }],
  ])('has where %s proves it', async (_, change, more) => {
    const { retinue, cwd } = await family({ a1: half, ...more }, AUTO)
    const outcome = await retinue.executePlan(planOf(change), FEW).outcome()
    expect([outcome.status, outcome.reason]).toEqual(['completed', null])
    expect(steps(outcome)[0]).toEqual(['one', 'completed', true])
    expect(tree(cwd)).toEqual({ 'mine/b.txt': 'x\n' })
  })
})

describe('a run that nobody works on', () => {
  const plan = planOf({
    steps: [
      { ...STEP, id: 'zero', title: 'zero', owns: ['zero/**'] },
      { ...STEP, depends_on: ['zero'] },
      { ...STEP, id: 'two', title: 'two', owns: ['two/**'], depends_on: ['one'] },
    ],
  })
  const ends = (log: readonly StoredEvent[]) =>
    log.flatMap(({ type, data }) => {
      if (type === 'plan.step_ended') return [`${data.step} ${data.status}`]
      return type === 'plan.ended' ? [`the plan ${data.status}`] : []
    })

  it('is cancelled: each of its steps ends once, and so does the plan', async () => {
    const begun = gate()
    const never = gate()
    const { retinue, cwd, model } = await family(
      { a1: [write('zero/b.txt'), DONE], a2: written },
      {
        ...AUTO,
        hold: ({ agent_id }) => {
          if (agent_id !== 'a2') return undefined
          begun.open()
          return never.opened
        },
      },
    )
    const run = retinue.executePlan(plan, { approve: 'yes' })
    const left = run.result().catch((error: unknown) => error)
    await begun.opened
    run.leave('the process ends')
    expect(await left).toBeInstanceOf(Error)
    await retinue.close()
    const other = await retinueIn(cwd, model, AUTO)
    expect(ends(await other.events(run.run_id))).toEqual(['zero completed'])
    expect((await other.cancel(run.run_id, 'ada', 'enough')).outcome).toBe('cancelled')
    expect(ends(await other.events(run.run_id))).toEqual([
      'zero completed',
      'one failed',
      'two skipped',
      'the plan failed',
    ])
    const { status, reason, steps } = await other.planOutcome(run.run_id)
    expect([status, reason]).toEqual(['failed', expect.stringContaining('enough')])
    expect(steps.map(({ id, status }) => [id, status])).toEqual([
      ['zero', 'completed'],
      ['one', 'failed'],
      ['two', 'skipped'],
    ])
    expect(tree(cwd)).toEqual({})
  })
})
