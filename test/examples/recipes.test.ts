import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { sampled } from '../support/sampled.js'
import { again, type Played, play, scripted, scriptOf, served, source, tests } from './recipe.js'

const SHAPES = ['circle', 'cube', 'cylinder', 'rectangle', 'sphere', 'trapezoid']

/** What is different in the folder afterwards, and how its tests come out. */
const COMES_TO: Record<string, Pick<Played, 'changed'> & { tests: ReturnType<typeof tests> }> = {
  'parallel-research': { changed: ['?? error-handling.md'], tests: { pass: 0, fail: 0 } },
  'research-then-implement': {
    changed: ['M src/api.js', '?? src/token.js', '?? test/token.test.js'],
    tests: { pass: 5, fail: 0 },
  },
  'test-driven-development': {
    changed: ['?? src/pricing.js', '?? test/pricing.test.js'],
    tests: { pass: 6, fail: 0 },
  },
  'migrate-many-files': { changed: SHAPES.map((name) => `M src/${name}.js`), tests: { pass: 6, fail: 0 } },
}
const RECIPES = Object.keys(COMES_TO)

const about = (events: StoredEvent[]) =>
  dataOf(events, 'agent.subagent_closed').map(({ sub_agent_id, final_status }) => `${sub_agent_id} ${final_status}`)

/** When steps began and how they ended, in the order of the log. */
const stepsIn = (events: StoredEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'plan.step_started') return [`${event.data.step} begins`]
    return event.type === 'plan.step_ended' ? [`${event.data.step} ${event.data.status}`] : []
  })

// They run the tests of their projects again and again, which takes long where others are at work too.
describe('the recipes', { timeout: 180_000 }, () => {
  it('are those that are looked at here, and each has a page with its one command', () => {
    const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
    const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    // A set-up of services is no recipe.
    expect(folders.map(({ name }) => name).sort()).toEqual([...RECIPES, 'workers'].sort())
    for (const recipe of RECIPES) {
      const page = source(recipe, 'README.md')
      expect(page).toContain(`\nnode examples/run.mjs ${recipe} --offline `)
      expect(page.trim().split('\n').length).toBeLessThanOrEqual(22)
    }
  })

  it('say nothing about which model is asked', () => {
    const program = (recipe: string) => source(recipe, recipe === 'test-driven-development' ? 'plan.yaml' : 'main.mjs')
    for (const recipe of RECIPES) expect(program(recipe)).not.toMatch(/scripted|script\.yaml|offline/)
  })

  it('migrate-many-files: each file by a sub-agent of its own, four at once, judged by its checks', async () => {
    const { code, stdout, cwd, changed, files, events, retinue, run_id } = await play(
      'migrate-many-files',
      onTestFinished,
    )
    expect(code).toBe(0)
    expect(stdout).toBe([...SHAPES.map((_, i) => `a${i + 1} completed`), '6 of 6 files migrated', ''].join('\n'))
    expect({ changed, tests: tests(cwd) }).toEqual(COMES_TO['migrate-many-files'])
    for (const name of SHAPES) expect(files[`src/${name}.js`]).toMatch(/^export class /)
    expect(dataOf(events, 'agent.subagent_created').map(({ contract }) => contract.workspace.owns)).toEqual(
      SHAPES.map((name) => [`src/${name}.js`]),
    )
    // Two checks each, before the merge and after it.
    const gates = dataOf(events, 'agent.gate_checked')
    expect(gates.map(({ passed }) => passed)).toEqual(Array(SHAPES.length * 4).fill(true))
    expect(await retinue.replay(run_id)).toMatchObject({ ok: true })
  })

  it('parallel-research: three at once, one page, and nothing else written', async () => {
    const { code, stdout, changed, files, events, retinue, run_id } = await play('parallel-research', onTestFinished)
    expect(code).toBe(0)
    expect(stdout).toBe(`3 of 3 questions answered: error-handling.md\nAll that they did: retinue show ${run_id}\n`)
    expect(changed).toEqual(['?? error-handling.md'])
    const page = files['error-handling.md'] ?? ''
    expect(page.match(/^## .*$/gm)).toEqual(['## What is caught', '## What is thrown', '## What is logged'])
    expect(page).toContain('- src/services/prices.js:4 drops it without a word.')
    expect(about(events).sort()).toEqual(['a1 completed', 'a2 completed', 'a3 completed'])
    expect(dataOf(events, 'agent.subagent_created').map(({ contract }) => contract.permissions.mode)).toEqual(
      Array(3).fill('plan'),
    )
    expect(await retinue.replay(run_id)).toMatchObject({ ok: true })
  })

  it('research-then-implement: from a goal to tests that pass, with a fault found and mended on the way', async () => {
    const recipe = 'research-then-implement'
    const { code, stdout, cwd, changed, files, events, retinue, run_id } = await play(recipe, onTestFinished)
    expect(code).toBe(0)
    expect({ changed, tests: tests(cwd) }).toEqual(COMES_TO[recipe])
    expect(files['src/token.js']).toContain('return claims.exp > now ? claims : null')
    const steps = stepsIn(events)
    expect(steps.slice(0, 2)).toEqual(['research-1 begins', 'research-2 begins'])
    expect(steps.slice(2, 4).sort()).toEqual(['research-1 completed', 'research-2 completed'])
    // Two side by side, integrated in the order of the plan.
    expect(steps.slice(4)).toEqual([
      ...['plan-1 begins', 'plan-1 completed', 'token begins', 'token completed'],
      ...['routes begins', 'tests begins', 'routes completed', 'tests completed'],
      ...['review-1 begins', 'review-1 completed', 'repair-1.1 begins', 'repair-1.1 completed'],
      ...['review-2 begins', 'review-2 completed'],
    ])
    expect(dataOf(events, 'plan.reviewed').map(({ findings }) => findings.map(({ title }) => title))).toEqual([
      ['Expired tokens are accepted'],
      [],
    ])
    const checks = dataOf(events, 'plan.checked').map(({ round, what, passed }) => [round, what, passed])
    expect(checks).toEqual([
      [0, 'node --test', true],
      [1, 'node --test', true],
    ])
    expect(dataOf(events, 'plan.ended')).toMatchObject([{ status: 'completed', reason: null }])
    expect(stdout.trim()).toBe((await retinue.planOutcome(run_id)).report.trim())
    expect(await retinue.replay(run_id)).toMatchObject({ ok: true })
  })

  it('test-driven-development: tests that fail first, then code that makes them pass', async () => {
    const recipe = 'test-driven-development'
    const { code, cwd, changed, events, retinue, run_id } = await play(recipe, onTestFinished)
    expect(code).toBe(0)
    expect({ changed, tests: tests(cwd) }).toEqual(COMES_TO[recipe])
    expect(stepsIn(events)).toEqual([
      ...['tests begins', 'tests completed', 'implement begins', 'implement completed'],
      ...['review-1 begins', 'review-1 completed'],
    ])
    const { steps, checks, status } = await retinue.planOutcome(run_id)
    const red = '! node --test test/pricing.test.js'
    const gates = steps[0]?.gates.filter(({ what }) => what.includes(red))
    // Before the merge and after it.
    expect(gates?.map(({ passed, stage }) => [passed, stage])).toEqual([
      [true, 'before_merge'],
      [true, 'after_merge'],
    ])
    expect([status, checks.map(({ what, passed }) => [what, passed])]).toEqual(['completed', [['node --test', true]]])
  })

  it('migrate-many-files: a file that failed is as it was, and the next time only that is done', async () => {
    const recipe = 'migrate-many-files'
    const { a3 = [], ...others } = scriptOf(recipe)
    const lazy = [{ text: 'Cylinder is a class now.' }]
    const env = scripted({ ...others, a3: lazy }, onTestFinished)
    const { code, stdout, cwd, changed, files } = await play(recipe, onTestFinished, { flags: [], env })
    expect([code, stdout.split('\n').slice(-3, -1)]).toEqual([
      1,
      ['5 of 6 files migrated', expect.stringMatching(/^src\/cylinder\.js: the check failed: .*prototype/)],
    ])
    expect(changed).toEqual(COMES_TO[recipe]?.changed.filter((line) => !line.includes('cylinder')))
    expect(files['src/cylinder.js']).toBe(source(recipe, 'project/src/cylinder.js'))

    const rest = again(recipe, cwd, scripted({ a1: a3 }, onTestFinished))
    expect(rest).toEqual({ code: 0, stdout: 'a1 completed\n1 of 1 files migrated\n' })
    expect(tests(cwd)).toEqual(COMES_TO[recipe]?.tests)
    expect(again(recipe, cwd, {})).toEqual({ code: 0, stdout: 'Nothing is left to migrate.\n' })
  })

  it('test-driven-development: tests that pass before there is any code are none, and nothing is done after them', async () => {
    const recipe = 'test-driven-development'
    const content = "import { test } from 'node:test'\n\ntest('it is fine', () => {})\n"
    const a1 = [
      { calls: [{ write_file: { path: 'test/pricing.test.js', content } }] },
      { text: 'All of it is tested.' },
    ]
    const env = scripted({ ...scriptOf(recipe), a1 }, onTestFinished)
    const { code, changed, events } = await play(recipe, onTestFinished, { flags: [], env })
    expect([code, changed]).toEqual([1, ['']])
    expect(stepsIn(events)).toEqual(['tests begins', 'tests failed', 'implement skipped'])
  })

  it.each(sampled(RECIPES, 2))('%s comes to the same with a model behind an address, unchanged', async (recipe) => {
    const played = await play(recipe, onTestFinished, { flags: [], env: await served(recipe, onTestFinished) })
    expect({ code: played.code, changed: played.changed, tests: tests(played.cwd) }).toEqual({
      code: 0,
      ...COMES_TO[recipe],
    })
    const asked = dataOf(played.events, 'model.requested').map(({ model }) => model)
    expect(new Set(asked.filter((model) => !model.startsWith('program/')))).toEqual(new Set(['here/m']))
  })
})
