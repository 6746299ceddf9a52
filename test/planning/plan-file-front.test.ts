import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type Settings } from '../../src/index.js'
import { readPlan } from '../../src/planning/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { makeProject } from '../support/project.js'

const PAGE = readFileSync(new URL('../../docs/plan-files.md', import.meta.url), 'utf8')
const EXAMPLE = PAGE.split('```yaml\n')[1]?.split('```')[0] ?? ''

async function place(settings: Settings = {}, agents: ScriptedModelOptions['agents'] = {}) {
  const cwd = makeProject({ 'docs/coffee.md': 'Coffee.\n' }, { git: true })
  const model = createScriptedModel({ name: 'test', agents })
  const retinue = await createRetinue({ cwd, models: modelsOf(model), settings: { mode: 'auto', ...settings } })
  onTestFinished(() => retinue.close())
  return { cwd, retinue }
}

function bad(name: string): string {
  return readFileSync(new URL(`../fixtures/plans/bad/${name}`, import.meta.url), 'utf8')
}

describe('retinue.checkPlan', () => {
  it('answers with the plan of the page and what it would come to', async () => {
    const { retinue } = await place()
    const checked = await retinue.checkPlan(EXAMPLE)
    expect(checked).toMatchObject({ ok: true, plan: { goal: 'A page about tea, with tests' } })
    expect(checked.ok && checked.preview.steps.map(({ id }) => id)).toEqual(['read', 'page', 'tests'])
  })

  it('answers with the faults of a text, by line', async () => {
    const { retinue } = await place()
    const message = 'steps 2 → 4 → 2 wait for each other: remove one of these dependencies'
    expect(await retinue.checkPlan(bad('26-circle-of-two.yaml'))).toEqual({
      ok: false,
      faults: [{ path: 'steps[1].depends_on', message, line: 6 }],
    })
  })

  it('answers with what does not fit in here', async () => {
    const { retinue } = await place({ mode: 'normal', budget: { total_tokens: 50_000 } })
    const step = { description: 'Look', agent: 'reviewer', budget: { total_tokens: 30_000 } }
    const plan = {
      version: 1,
      goal: 'Tea for two',
      checks: 'rm -rf docs',
      steps: [
        { ...step, owns: 'src/**' },
        { ...step, agent: 'reviwer' },
        { ...step, checks: { schema: { type: 7 } } },
      ],
    }
    const faults = {
      'checks[0]':
        '"rm -rf docs" would not be run: commands ask in normal mode. Allow it (--mode auto, or a rule), or check it otherwise',
      'steps[0].owns': 'reviewer writes nothing: give the step to another agent, or take owns away',
      'steps[1].agent': 'there is no agent "reviwer": did you mean reviewer?',
      'steps[2].checks[0]':
        'its schema is not valid: schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf',
      steps:
        'the total_tokens of steps 1, 2, 3 come to 90,000, and the run has 50,000 tokens: ask for less, or give the run more',
    }
    expect(await retinue.checkPlan(plan)).toEqual({
      ok: false,
      faults: Object.entries(faults).map(([path, message]) => ({ path, message })),
    })
  })
})

describe('retinue.executePlan', () => {
  it('refuses a plan with faults before there is a run', async () => {
    const { retinue } = await place()
    const run = retinue.executePlan(bad('25-depends-on-itself.yaml'))
    await expect(run.result()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('steps[0].depends_on: step boil depends on itself: remove it'),
    })
    expect(await retinue.runs()).toEqual([])
  })

  it('keeps the plan as a file that can be read again', async () => {
    const { cwd, retinue } = await place({}, { a1: [{ text: 'Looked.' }] })
    const plan = { version: 1, goal: 'Look around', steps: [{ description: 'Look\naround', owns: [] }] }
    const run = retinue.executePlan(plan, { approve: 'yes' })
    await run.result()
    const outcome = await run.outcome()
    const text = readFileSync(join(cwd, '.retinue/plans', `${run.run_id}.yaml`), 'utf8')
    expect(readPlan(text)).toEqual({ ok: true, plan: outcome.plan })
  })
})
