import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Person, type PlanOutcome, RetinueError, type StoredEvent } from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { tree } from '../support/project.js'
import { family, gate, retinueIn } from './family.js'

const AUTO = { settings: { mode: 'auto' as const } }
const GOAL = 'Two pages about a roof'

const PLAN = {
  version: 1,
  goal: GOAL,
  steps: [
    { id: 'gutters', description: 'Write about gutters', agent: 'executor', owns: ['gutters.md'] },
    {
      id: 'slates',
      description: 'Write about slates',
      agent: 'executor',
      owns: ['slates.md'],
      depends_on: ['gutters'],
    },
  ],
}

const write = (path: string, content: string) => ({ calls: [{ write_file: { path, content } }] })
const gutters = [
  { expect: 'Write about gutters', ...write('gutters.md', 'Clean them.\n') },
  { text: 'Gutters: clean.' },
]
const slates = [
  { expect: { contains: ['Write about slates', 'Gutters: clean.'] }, ...write('slates.md', 'Mend them.\n') },
  { text: 'Slates: mend.' },
]
const PAGES = { 'gutters.md': 'Clean them.\n', 'slates.md': 'Mend them.\n' }

/** A person who says the same to everything about a plan, and remembers what it was. */
function person(answer: NonNullable<Person['approve']>): Person & { asked: (string | null)[] } {
  const asked: (string | null)[] = []
  return {
    asked,
    permit: async () => null,
    answer: async () => null,
    approve: async (proposal, signal) => {
      asked.push(proposal.step)
      return answer(proposal, signal)
    },
  }
}

const steps = ({ steps }: PlanOutcome) => steps.map(({ id, stage, status, agent_id }) => [id, stage, status, agent_id])
/** What happened to a plan, in the order of the log. */
const planEvents = (events: readonly StoredEvent[]) =>
  events.flatMap(({ type, data }) => {
    if (!type.startsWith('plan.')) return []
    const words = ['step' in data ? data.step : null, 'status' in data ? data.status : null]
    return [[type, ...words.filter((word) => word !== null)].join(' ')]
  })

describe('seed 004, E5: planForGoal', () => {
  it('E5: a goal becomes a plan in a file, and nothing is carried out', async () => {
    const { retinue, cwd, model } = await family({ a1: [{ expect: GOAL, text: JSON.stringify(PLAN) }] }, AUTO)
    const run = retinue.planForGoal(GOAL)
    const made = await run.outcome()
    expect([made.status, made.reason, made.revision]).toEqual(['made', null, 0])
    expect(made.plan).toMatchObject({ goal: GOAL, on_failure: 'stop', repair_rounds: 2 })
    expect(made.plan?.steps.map(({ id, depends_on, inputs }) => [id, depends_on, inputs])).toEqual([
      ['gutters', [], []],
      ['slates', ['gutters'], ['gutters']],
    ])
    expect(steps(made)).toEqual([['plan-1', 'plan', 'completed', 'a1']])
    expect(tree(cwd)).toEqual({})
    // The planner only looks: it can write nothing and run nothing.
    const [planner] = dataOf(await retinue.events(run.run_id), 'agent.subagent_created')
    expect(planner?.contract).toMatchObject({ agent: { profile_id: 'planner' }, permissions: { mode: 'plan' } })
    const file = readFileSync(join(cwd, '.retinue', 'plans', `${run.run_id}.yaml`), 'utf8')
    expect(await retinue.checkPlan(file)).toMatchObject({ ok: true, plan: made.plan })
    model.assertAllUsed()
  })

  it('E5: researchers answer questions first, side by side, and the planner is given what they found', async () => {
    const both = gate()
    const asked = new Set<string>()
    const { retinue, model } = await family(
      {
        a1: [{ expect: 'What is the roof made of?', text: 'Of slate, says roof.md:1.' }],
        a2: [{ expect: 'What leaks?', text: 'The gutter, says diary.md:3.' }],
        a3: [{ expect: { contains: ['Of slate', 'The gutter'] }, text: JSON.stringify(PLAN) }],
      },
      {
        ...AUTO,
        hold: ({ agent_id }) => {
          asked.add(agent_id)
          if (asked.size === 2) both.open()
          return both.opened
        },
      },
    )
    const made = await retinue.planForGoal(GOAL, { research: ['What is the roof made of?', 'What leaks?'] }).outcome()
    expect(steps(made)).toEqual([
      ['research-1', 'research', 'completed', 'a1'],
      ['research-2', 'research', 'completed', 'a2'],
      ['plan-1', 'plan', 'completed', 'a3'],
    ])
    expect(made.status).toBe('made')
    model.assertAllUsed()
  })

  it('E5: a plan with faults goes back to the planner with them, and what is mended is taken', async () => {
    const circle = { ...PLAN, steps: [{ ...PLAN.steps[0], depends_on: ['slates'] }, PLAN.steps[1]] }
    const { retinue, model } = await family(
      {
        a1: [{ text: JSON.stringify({ ...PLAN, steps: [{ ...PLAN.steps[0], agent: 'roofer' }] }) }],
        a2: [{ expect: { contains: ['steps[0].agent', 'roofer'] }, text: JSON.stringify(circle) }],
        a3: [{ expect: 'wait for each other', text: JSON.stringify(PLAN) }],
      },
      AUTO,
    )
    const made = await retinue.planForGoal(GOAL).outcome()
    expect([made.status, made.plan?.steps.map(({ id }) => id)]).toEqual(['made', ['gutters', 'slates']])
    expect(steps(made).map(([id]) => id)).toEqual(['plan-1', 'plan-2', 'plan-3'])
    model.assertAllUsed()
  })

  it('E5: after the third it is an error with what was wrong, and no plan in disguise', async () => {
    const { retinue, cwd, model } = await family(
      {
        a1: [{ text: 'First the gutters, then the slates.' }],
        a2: [{ text: 'As I said: first the gutters.' }],
        a3: [{ text: JSON.stringify({ ...PLAN, steps: [] }) }],
      },
      AUTO,
    )
    const run = retinue.planForGoal(GOAL, { execute: true, approve: 'yes' })
    const outcome = await run.outcome()
    expect([outcome.status, outcome.plan]).toEqual(['failed', null])
    expect(outcome.reason).toMatch(/^no plan without faults after 3 tries: steps: /)
    expect((await run.result()).outcome).toBe('error')
    expect(steps(outcome).map(([id]) => id)).toEqual(['plan-1', 'plan-2', 'plan-3'])
    expect(existsSync(join(cwd, '.retinue', 'plans', `${run.run_id}.yaml`))).toBe(false)
    model.assertAllUsed()
  })
})

describe('seed 004, E5: executePlan', () => {
  it('E5: steps are sub-agents under contract; each begins after what it depends on and is given its result', async () => {
    const { retinue, cwd, model } = await family({ a1: gutters, a2: slates }, AUTO)
    const run = retinue.executePlan(PLAN, { approve: 'yes' })
    const events: StoredEvent[] = []
    for await (const event of run) events.push(event)
    // Progress: what happens to the plan, as it happens.
    expect(planEvents(events)).toEqual([
      'plan.proposed',
      'plan.adopted',
      'plan.step_started gutters',
      'plan.step_ended gutters completed',
      'plan.step_started slates',
      'plan.step_ended slates completed',
      'plan.ended completed',
    ])
    expect(
      dataOf(events, 'agent.subagent_created').map(({ contract: { agent, step, workspace } }) => [
        ...[agent.profile_id, step.inputs, workspace.owns],
      ]),
    ).toEqual([
      ['executor', undefined, ['gutters.md']],
      ['executor', [{ from: 'a1', outcome: 'completed' }], ['slates.md']],
    ])
    expect(tree(cwd)).toEqual(PAGES)
    expect(await retinue.replay(run.run_id)).toMatchObject({ ok: true })
    model.assertAllUsed()
  })

  it('E5: results are put together: per step, in total, as a report; for every later process, too', async () => {
    const usage = { input_tokens: 900, output_tokens: 100 }
    const paid = (lines: object[]) => lines.map((line) => ({ ...line, usage, cost_usd: 0.01 }))
    const { retinue, cwd, model } = await family({ a1: paid(gutters), a2: paid(slates) } as never, AUTO)
    const run = retinue.executePlan(PLAN, { approve: 'yes' })
    const outcome = await run.outcome()
    expect(outcome.steps).toEqual(
      [
        { id: 'gutters', agent_id: 'a1', summary: 'Gutters: clean.', files_changed: ['gutters.md'] },
        { id: 'slates', agent_id: 'a2', summary: 'Slates: mend.', files_changed: ['slates.md'] },
      ].map((one) =>
        expect.objectContaining({ ...one, stage: 'work', status: 'completed', attempts: 1, tokens: 2000 }),
      ),
    )
    expect(outcome.totals).toMatchObject({ agents: 2, tool_calls: 2, tokens: 4000, cost_usd: 0.04 })
    const { outcome: ended, text } = await run.result()
    expect([ended, text]).toEqual(['completed', outcome.report])
    expect(readFileSync(join(cwd, '.retinue', 'reports', run.run_id, 'plan.md'), 'utf8').trim()).toBe(text.trim())
    expect(await (await retinueIn(cwd, model)).planOutcome(run.run_id)).toEqual(outcome)
  })

  it('E5: a person sees the plan before anything is done, and may change it', async () => {
    const { retinue, cwd, model } = await family({ a1: gutters }, AUTO)
    const someone = person(async ({ plan, preview }) => {
      expect(preview).toMatchObject({ goal: GOAL, parallel: { most: 1 } })
      return { answer: 'approve', plan: { ...plan, steps: plan.steps.slice(0, 1) } }
    })
    const outcome = await retinue.executePlan(PLAN, { approve: 'ask', person: someone }).outcome()
    expect([outcome.status, steps(outcome)]).toEqual(['completed', [['gutters', 'work', 'completed', 'a1']]])
    expect(someone.asked).toEqual([null])
    expect(tree(cwd)).toEqual({ 'gutters.md': PAGES['gutters.md'] })
    model.assertAllUsed()
  })

  it('E5: without a yes nothing is done: declined, or nobody there', async () => {
    const { retinue, cwd, model } = await family({}, AUTO)
    const someone = person(async () => ({ answer: 'decline' }))
    const declined = await retinue.executePlan(PLAN, { approve: 'ask', person: someone }).outcome()
    const alone = await retinue.executePlan(PLAN, { approve: 'ask' }).outcome()
    expect([declined, alone].map(({ status, reason, steps }) => [status, reason, steps])).toEqual([
      ['left', 'it was not approved', []],
      ['left', 'nobody was there to approve it', []],
    ])
    expect([model.requests, tree(cwd)]).toEqual([[], {}])
  })

  it('E5: a step that needs approval asks for its own, and what depends on it is skipped where it is declined', async () => {
    const plan = { ...PLAN, steps: PLAN.steps.map((step, i) => ({ ...step, needs_approval: i === 0 })) }
    const { retinue, model } = await family({}, AUTO)
    const someone = person(async ({ step }) => ({
      answer: step === null ? 'approve' : 'decline',
      by: 'ada',
      note: 'no',
    }))
    const run = retinue.executePlan(plan, { approve: 'ask', person: someone })
    const outcome = await run.outcome()
    expect(someone.asked).toEqual([null, 'gutters'])
    expect(outcome.steps.map(({ id, status, reason }) => [id, status, reason])).toEqual([
      ['gutters', 'skipped', 'declined by ada: no'],
      ['slates', 'skipped', 'step gutters, which it depends on, was skipped'],
    ])
    expect(outcome.status).toBe('failed')
    expect(model.requests).toEqual([])
  })

  it('E5: a failed step stops the rest, or where the plan says so only what depends on it', async () => {
    const broken = [{ fail: { code: 'auth' as const, message: 'no key' } }]
    const more = { id: 'ridge', description: 'Write about the ridge', agent: 'executor', owns: ['ridge.md'] }
    const played = async (on_failure: string) => {
      const ridge = [{ expect: 'the ridge', ...write('ridge.md', 'Look.\n') }, { text: 'Ridge: look.' }]
      const { retinue } = await family({ a1: broken, a2: ridge }, { ...AUTO })
      const plan = { ...PLAN, on_failure, max_concurrent: 1, steps: [...PLAN.steps, more] }
      const { status, steps } = await retinue.executePlan(plan, { approve: 'yes' }).outcome()
      return { status, steps: steps.map(({ id, status, reason }) => [id, status, reason]) }
    }
    const gutters = ['gutters', 'failed', 'error: no key']
    expect(await played('stop')).toEqual({
      status: 'failed',
      steps: [gutters, ['slates', 'skipped', 'step gutters failed'], ['ridge', 'skipped', 'step gutters failed']],
    })
    expect(await played('continue')).toEqual({
      status: 'failed',
      steps: [
        gutters,
        ['slates', 'skipped', 'step gutters, which it depends on, failed'],
        ['ridge', 'completed', null],
      ],
    })
  })

  it('E5: where the plan says so a failure is answered with another rest; what is done is not done again', async () => {
    const { retinue, cwd, model } = await family(
      {
        a1: gutters,
        a2: [{ fail: { code: 'auth', message: 'no key' } }],
        a3: [
          {
            expect: { contains: [GOAL, 'no key', 'Gutters: clean.'] },
            // What proves the whole is not the planner's to change.
            text: JSON.stringify({
              ...PLAN,
              checks: ['true'],
              steps: [{ ...PLAN.steps[1], id: 'tiles', depends_on: [] }],
            }),
          },
        ],
        a4: slates,
      },
      AUTO,
    )
    const checks = ['test -s slates.md']
    const outcome = await retinue.executePlan({ ...PLAN, checks, on_failure: 'replan' }, { approve: 'yes' }).outcome()
    expect([outcome.status, outcome.revision]).toEqual(['completed', 2])
    expect(steps(outcome)).toEqual([
      ['gutters', 'work', 'completed', 'a1'],
      ['slates', 'work', 'failed', 'a2'],
      ['replan-1-1', 'plan', 'completed', 'a3'],
      ['2.tiles', 'work', 'completed', 'a4'],
    ])
    expect(outcome.checks.map(({ what, passed }) => [what, passed])).toEqual([['test -s slates.md', true]])
    expect(tree(cwd)).toEqual(PAGES)
    model.assertAllUsed()
  })

  it('E5: a plan with faults is refused before anything is begun', async () => {
    const { retinue, cwd } = await family({}, AUTO)
    const faulty = { ...PLAN, steps: [{ ...PLAN.steps[1] }] }
    const refused = await retinue
      .executePlan(faulty, { approve: 'yes' })
      .result()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RetinueError)
    expect(refused).toMatchObject({ code: 'input', message: expect.stringContaining('steps[0].depends_on') })
    expect(await retinue.checkPlan(faulty)).toMatchObject({ ok: false, faults: [{ path: 'steps[0].depends_on[0]' }] })
    expect([await retinue.runs(), tree(cwd)]).toEqual([[], {}])
  })
})
