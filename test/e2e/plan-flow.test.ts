import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { createRetinue, type StoredEvent } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { dataOf } from '../support/bench.js'
import { checkPlanLanded, steady } from '../support/plan-check.js'
import { FLOW, flowProject, PLAN_SETTINGS } from '../support/plan-flow.js'
import { describeSandboxed } from '../support/sandbox.js'

/** Runs the tests of the project as a person would, and says how many passed and failed. */
function tested(cwd: string): { status: number | null; passed: number; failed: number } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd,
    env,
    encoding: 'utf8',
  })
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1])
  return { status, passed: count('pass'), failed: count('fail') }
}

/** From when an agent began to when it was done, as positions in the log. */
function lifeOf(log: readonly StoredEvent[], id: string): [from: number, to: number] {
  const own = log.filter(({ agent_id }) => agent_id === id).map(({ position }) => position)
  return [Math.min(...own), Math.max(...own)]
}

function atOnce(log: readonly StoredEvent[], one: string, other: string): boolean {
  const [[from, to], [begin, end]] = [lifeOf(log, one), lifeOf(log, other)]
  return from < end && begin < to
}

describeSandboxed('the complex-task flow', () => {
  it('goes from a goal to tests that pass, with a defect found and mended on the way', {
    timeout: 120_000,
  }, async () => {
    const { cwd, before } = flowProject(FLOW.script, onTestFinished)
    const model = createScriptedModel({ name: 'script.yaml', ...parse(FLOW.script) })
    const retinue = await createRetinue({ cwd, models: modelsOf(model), settings: PLAN_SETTINGS })
    onTestFinished(() => retinue.close())
    expect(tested(cwd)).toEqual({ status: 1, passed: 0, failed: 4 })

    const run = retinue.planForGoal(FLOW.goal.text, FLOW.goal.options)
    const log: StoredEvent[] = []
    for await (const event of run) log.push(event)
    const result = await run.result()
    const outcome = await run.outcome()
    model.assertAllUsed()

    expect(result).toMatchObject({ outcome: 'completed', landing: { state: 'landed' } })
    expect(
      outcome.steps.map(({ id, stage, agent, agent_id, status, files_changed }) => [
        id,
        stage,
        agent,
        agent_id,
        status,
        files_changed,
      ]),
    ).toEqual([
      ['research-1', 'research', 'researcher', 'a1', 'completed', []],
      ['research-2', 'research', 'researcher', 'a2', 'completed', []],
      ['plan-1', 'plan', 'planner', 'a3', 'completed', []],
      ['slug', 'work', 'executor', 'a4', 'completed', ['src/slug.js']],
      ['duration', 'work', 'executor', 'a5', 'completed', ['src/duration.js']],
      ['review-1', 'review', 'reviewer', 'a6', 'completed', []],
      ['repair-1.1', 'repair', 'executor', 'a7', 'completed', ['src/slug.js', 'test/slug.test.js']],
      ['review-2', 'review', 'reviewer', 'a8', 'completed', []],
    ])

    // Side by side where nothing stands against it, and never before what they come after.
    expect(atOnce(log, 'a1', 'a2')).toBe(true)
    expect(atOnce(log, 'a4', 'a5')).toBe(true)
    const order = ['a2', 'a3', 'a5', 'a6', 'a7', 'a8'].map((id) => lifeOf(log, id))
    for (const [i, [from]] of order.entries()) if (i > 0) expect(from).toBeGreaterThan(order[i - 1]?.[1] ?? 0)

    expect(dataOf(log, 'plan.adopted')).toEqual([expect.objectContaining({ revision: 1, by: 'planner', reason: null })])
    expect(dataOf(log, 'plan.checked').map(({ what, round, passed }) => [what, round, passed])).toEqual([
      ['node --test', 0, true],
      ['node --test', 1, true],
    ])
    expect(
      dataOf(log, 'plan.reviewed').map(({ round, findings }) => [round, findings.map(({ title }) => title)]),
    ).toEqual([
      [0, ['A slug may end with a hyphen']],
      [1, []],
    ])
    expect(dataOf(log, 'plan.approval_asked')).toEqual([])

    expect(tested(cwd)).toEqual({ status: 0, passed: 5, failed: 0 })
    const { report } = await checkPlanLanded(cwd, run.run_id, FLOW, before, log, expect)
    await expect(report).toMatchFileSnapshot('../fixtures/plan-flow/report.md')
    const saved = await retinue.checkPlan(readFileSync(join(cwd, '.retinue/plans', `${run.run_id}.yaml`), 'utf8'))
    expect(saved).toMatchObject({ ok: true, plan: outcome.plan })
    expect(steady(await retinue.planOutcome(run.run_id).then(({ report }) => report), run.run_id)).toBe(report)
  })
})
