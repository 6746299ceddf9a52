import { describe, expect, it } from 'vitest'
import type { PlanOptions, Settings } from '../../src/index.js'
import { planningStep } from '../../src/planning/making.js'
import { agreeable, comeTo, planOf, STEP, scene, stepOf } from '../support/plan-attacks.js'

const NORMAL =
  'nothing can be written here: in normal mode sub-agents cannot write without asking: use --mode auto, or allow write_file by a rule'
const PLAN = 'nothing can be written here: in plan mode nobody writes'
const ALLOW = { rules: [{ decision: 'allow', tool: 'write_file', pattern: null }] } as unknown as Settings

async function faultsOf(plan: unknown, settings: Settings, options: PlanOptions = {}) {
  const { retinue } = await scene({}, settings)
  const checked = await retinue.checkPlan(plan, options)
  return checked.ok ? [] : checked.faults
}

describe('a plan whose steps own files, where nobody can write', () => {
  const person = agreeable([])
  it.each<[string, Settings, PlanOptions, string | null]>([
    ['in normal mode', { mode: 'normal' }, {}, NORMAL],
    ['in normal mode with a person whom sub-agents do not ask', { mode: 'normal' }, { person }, NORMAL],
    ['with one whom they ask', { mode: 'normal', delegation: { ask_person: true } }, { person }, null],
    ['where they would ask and nobody is there', { mode: 'normal', delegation: { ask_person: true } }, {}, NORMAL],
    ['where a rule allows it', { mode: 'normal', ...ALLOW }, {}, null],
    ['in plan mode', { mode: 'plan' }, {}, PLAN],
    ['in plan mode, asked for', { mode: 'auto' }, { mode: 'plan' }, PLAN],
    ['in auto mode', { mode: 'auto' }, {}, null],
  ])('%s', async (_, settings, options, message) => {
    const expected = message === null ? [] : [{ path: 'steps[0].owns', message }]
    expect(await faultsOf(planOf(), settings, options)).toEqual(expected)
  })

  it('has the fault at each of them, and none at steps that say nothing or own nothing', async () => {
    const { owns: _, ...silent } = STEP
    const plan = planOf({
      steps: [
        { ...STEP, id: 'a' },
        { ...silent, id: 'b' },
        { ...STEP, id: 'c', owns: [] },
        { ...STEP, id: 'd' },
      ],
    })
    const faults = await faultsOf(plan, { mode: 'plan' })
    expect(faults.map(({ path }) => path)).toEqual(['steps[0].owns', 'steps[3].owns'])
  })

  it('is told once of a step whose agent writes nothing anywhere', async () => {
    const faults = await faultsOf(stepOf({ agent: 'reviewer' }), { mode: 'plan' })
    const message = 'reviewer writes nothing: give the step to another agent, or take owns away'
    expect(faults).toEqual([{ path: 'steps[0].owns', message }])
  })

  it('is refused before there is a run', async () => {
    const { retinue } = await scene({}, { mode: 'normal' })
    await expect(retinue.executePlan(planOf()).result()).rejects.toMatchObject({ code: 'input' })
    expect(await retinue.runs()).toEqual([])
  })
})

describe('a planner where nobody can write', () => {
  it('has a plan that owns files sent back, if it is to be carried out', async () => {
    const { retinue } = await scene({ 'a*': [{ text: JSON.stringify(planOf()) }] }, { mode: 'plan' })
    const { outcome } = await comeTo(retinue.planForGoal('Do it', { execute: true, approve: 'yes' }))
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining(`steps[0].owns: ${PLAN}`) })
  })

  it.each([
    [false, 'failed'],
    [true, 'completed'],
  ] as const)('whose sub-agents ask a person: %s, has it %s', async (ask_person, status) => {
    const write = [{ calls: [{ write_file: { path: 'mine/b.txt', content: 'x' } }] }, { text: 'Done.' }]
    const { retinue } = await scene(
      {
        a1: [{ text: JSON.stringify(planOf()) }],
        ...(ask_person ? { a2: write } : { 'a*': [{ text: JSON.stringify(planOf()) }] }),
      },
      { mode: 'normal', delegation: { ask_person } },
    )
    const { outcome } = await comeTo(
      retinue.planForGoal('Do it', { execute: true, approve: 'yes', person: agreeable([]) }),
    )
    expect(outcome).toMatchObject({ status, ...(ask_person ? {} : { reason: expect.stringContaining(NORMAL) }) })
  })

  it('may plan what is carried out elsewhere', async () => {
    const { retinue } = await scene({ 'a*': [{ text: JSON.stringify(planOf()) }] }, { mode: 'normal' })
    const { outcome } = await comeTo(retinue.planForGoal('Do it'))
    expect(outcome).toMatchObject({ status: 'made', plan: { steps: [{ owns: ['mine/**'] }] } })
  })

  it('is told so', () => {
    const told = (unwritable: string | null) =>
      planningStep({ goal: 'x', context: '', agents: [], commands: true, unwritable }, null, { attempt: 1, faults: [] })
        .context
    const words = 'Nothing can be written here: plan steps that only read and report, and leave `owns` out.'
    expect(told('in plan mode nobody writes')).toContain(words)
    expect(told(null)).not.toContain(words)
    expect(told(null)).toContain('A step that writes says in `owns`')
  })
})
