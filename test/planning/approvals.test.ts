import { describe, expect, it } from 'vitest'
import { createHost, type Person, type StoredEvent } from '../../src/index.js'
import { family, gate } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { tree } from '../support/project.js'

type Approve = NonNullable<Person['approve']>
type Asked = { step: string | null; ids: string[] }

const DONE = { text: 'Done.' }
const AUTO = { mode: 'auto' } as const
const NO_KEY = { fail: { code: 'auth', message: 'no key' } } as const
const MINUTE_MS = 60_000

const write = (path: string) => [{ calls: [{ write_file: { path, content: 'x\n' } }] }, DONE]
const step = (id: string, more: object = {}) => ({
  ...STEP,
  ...{ id, title: id, description: `Write ${id}`, owns: [`${id}/**`] },
  ...more,
})
const answerWith = (steps: object[]) => ({ text: JSON.stringify(planOf({ steps })) })

/** Somebody who is asked about plans, and remembers about which steps of which. */
function someone(approve: Approve): Person & { asked: Asked[] } {
  const asked: Asked[] = []
  return {
    asked,
    permit: async () => null,
    answer: async () => null,
    approve: (proposal, signal) => {
      asked.push({ step: proposal.step, ids: proposal.plan.steps.map(({ id }) => id) })
      return approve(proposal, signal)
    },
  }
}

const endsIn = (log: readonly StoredEvent[]) =>
  log.flatMap(({ type, data }) => (type === 'plan.step_ended' ? [`${data.step} ${data.status}`] : []))

describe('a rest that is planned again', () => {
  const deploys = planOf({
    on_failure: 'replan',
    steps: [step('one'), step('deploy', { depends_on: ['one'], needs_approval: true })],
  })

  it.each([
    ['decline', ['2.tidy skipped', '2.deploy skipped'], {}],
    ['approve', ['2.tidy completed', '2.deploy completed'], { 'tidy/b.txt': 'x\n', 'deploy/b.txt': 'x\n' }],
  ] as const)('asks the person who was to be asked: %s', async (answer, ends, files) => {
    const { retinue, cwd } = await family(
      {
        a1: [NO_KEY],
        a2: [answerWith([step('tidy'), step('deploy', { depends_on: ['tidy'] })])],
        a3: write('tidy/b.txt'),
        a4: write('deploy/b.txt'),
      },
      { settings: AUTO },
    )
    const person = someone(async () => ({ answer }))
    const run = retinue.executePlan(deploys, { person })
    expect((await run.outcome()).status).toBe(answer === 'approve' ? 'completed' : 'failed')
    const log = await retinue.events(run.run_id)
    expect(endsIn(log)).toEqual(['one failed', 'deploy skipped', 'replan-1-1 completed', ...ends])
    const [, rest] = dataOf(log, 'plan.adopted')
    expect(rest?.steps.map(({ id, needs_approval }) => [id, needs_approval])).toEqual([
      ['2.tidy', true],
      ['2.deploy', true],
    ])
    const ids = ['2.tidy', '2.deploy']
    expect(person.asked).toEqual(answer === 'approve' ? ids.map((step) => ({ step, ids })) : [{ step: '2.tidy', ids }])
    expect(tree(cwd)).toEqual(files)
  })

  it('has nobody asked where nobody was to be', async () => {
    const { retinue } = await family(
      { a1: write('one/b.txt'), a2: [NO_KEY], a3: [answerWith([step('three')])], a4: write('three/b.txt') },
      { settings: AUTO },
    )
    const person = someone(async () => ({ answer: 'approve' }))
    // The one that was asked about is done.
    const steps = [step('one', { needs_approval: true }), step('two', { depends_on: ['one'] })]
    const outcome = await retinue.executePlan(planOf({ on_failure: 'replan', steps }), { person }).outcome()
    expect([outcome.status, person.asked]).toEqual(['completed', [{ step: 'one', ids: ['one', 'two'] }]])
  })

  const fails = planOf({ on_failure: 'replan', steps: [step('one'), step('two', { depends_on: ['one'] })] })

  it('leaves out what is done', async () => {
    const { retinue, cwd, model } = await family(
      {
        a1: write('one/b.txt'),
        a2: [NO_KEY],
        a3: [answerWith([step('one'), step('three', { depends_on: ['one'] })])],
        a4: write('three/b.txt'),
      },
      { settings: AUTO },
    )
    const run = retinue.executePlan(fails, { approve: 'yes' })
    expect((await run.outcome()).status).toBe('completed')
    const [, rest] = dataOf(await retinue.events(run.run_id), 'plan.adopted')
    expect(rest?.steps.map(({ id, depends_on, inputs }) => [id, depends_on, inputs])).toEqual([
      ['2.three', [], ['one']],
    ])
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n', 'three/b.txt': 'x\n' })
    model.assertAllUsed()
  })

  it('goes back to the planner where all of it is done', async () => {
    const { retinue, model } = await family(
      {
        a1: write('one/b.txt'),
        a2: [NO_KEY],
        a3: [answerWith([step('one')])],
        a4: [{ expect: 'all of these steps are done already', ...answerWith([step('three')]) }],
        a5: write('three/b.txt'),
      },
      { settings: AUTO },
    )
    const run = retinue.executePlan(fails, { approve: 'yes' })
    const { status, steps } = await run.outcome()
    expect([status, steps.map(({ id, status }) => `${id} ${status}`)]).toEqual([
      'completed',
      ['one completed', 'two failed', 'replan-1-1 completed', 'replan-1-2 completed', '2.three completed'],
    ])
    model.assertAllUsed()
  })
})

describe('the time that a person takes', () => {
  it.each([
    ['for the plan', 'ask', {}],
    ['for a step', 'steps', { needs_approval: true }],
  ] as const)('is not taken from that of the run: %s', async (_, approve, more) => {
    const real = createHost()
    let passed = 0
    const clock = { ...real.clock, now: () => real.clock.now() + passed }
    const { retinue } = await family({ 'a*': write('one/b.txt') }, { settings: AUTO, host: { ...real, clock } })
    const person = someone(async () => {
      passed += 60 * MINUTE_MS
      return { answer: 'approve' }
    })
    const plan = planOf({ steps: [step('one', more)] })
    const run = retinue.executePlan(plan, { approve, person, budget: { wall_ms: 2 * MINUTE_MS } })
    expect(await run.result()).toMatchObject({ outcome: 'completed', reason: null })
    const [child] = dataOf(await retinue.events(run.run_id), 'agent.subagent_created')
    expect(child?.contract.execution.budget.wall_ms).toBeGreaterThan(MINUTE_MS)
  })

  it('counts once where two are asked about at once, also while one of them has not answered', {
    timeout: 60_000,
  }, async () => {
    const wall_ms = 8000
    const late = new Promise<void>((resolve) => setTimeout(resolve, wall_ms + 1500))
    const { retinue } = await family(
      {
        'a*': [
          {
            branches: [{ when: { contains: 'Write two' }, steps: write('two/b.txt') }, { steps: write('one/b.txt') }],
          },
        ],
      },
      { settings: AUTO },
    )
    const person = someone(async ({ step }) => {
      if (step === 'two') await late
      return { answer: 'approve' }
    })
    const steps = [step('one', { needs_approval: true }), step('two', { needs_approval: true })]
    const run = retinue.executePlan(planOf({ steps }), { person, budget: { wall_ms } })
    expect(await run.result()).toMatchObject({ outcome: 'completed', reason: null })
    expect(endsIn(await retinue.events(run.run_id))).toEqual(['one completed', 'two completed'])
  })
})

describe('a question that nobody needs an answer to any more', () => {
  it('is taken back, and a late yes changes nothing', async () => {
    const asked = gate()
    const answers = gate()
    const { retinue, cwd } = await family(
      { a1: [NO_KEY], 'a*': write('two/b.txt') },
      { settings: AUTO, hold: () => asked.opened },
    )
    let signal: AbortSignal | null = null
    const person = someone(async (_, given) => {
      signal = given
      asked.open()
      await answers.opened
      return { answer: 'approve' }
    })
    const run = retinue.executePlan(planOf({ steps: [step('one'), step('two', { needs_approval: true })] }), { person })
    expect((await run.outcome()).status).toBe('failed')
    expect((signal as AbortSignal | null)?.aborted).toBe(true)
    const log = await retinue.events(run.run_id)
    expect(endsIn(log)).toEqual(['one failed', 'two skipped'])
    expect(dataOf(log, 'plan.approval_answered')).toEqual([])
    answers.open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await retinue.events(run.run_id)).toEqual(log)
    expect(tree(cwd)).toEqual({})
  })
})
