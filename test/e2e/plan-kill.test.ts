import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { strikePlan, undisturbedPlan, workPlan } from '../support/plan-blows.js'
import { checkPlanLanded } from '../support/plan-check.js'
import { FLOW, type Flow, flowProject, REPLANNED } from '../support/plan-flow.js'
import { describeSandboxed } from '../support/sandbox.js'
import { eventsOf, runOf } from '../support/workspace-work.js'

const FULL = process.env.RETINUE_FULL === '1'
const TIMEOUT_MS = 240_000

/**
 * `events`: of an undisturbed run; the sweeps check that the number is right. In the full suite the first is killed
 * before the commit of each event; with `RETINUE_EVERY_KILL=1` both are killed before and after each, which takes half
 * an hour.
 */
const SWEEPS: { name: string; flow: Flow; events: number; every: { quick: number; full: number } }[] = [
  { name: 'the complex-task flow', flow: FLOW, events: 177, every: { quick: 117, full: 2 } },
  { name: 'a plan that is made anew when a step fails', flow: REPLANNED, events: 86, every: { quick: 87, full: 7 } },
]

describeSandboxed('a plan', () => {
  describe.each(SWEEPS)('$name, killed with SIGKILL and resumed', ({ flow, events, every }) => {
    const peaceful = undisturbedPlan(flow)

    it('is, undisturbed, the run that the sweep counts on', { timeout: TIMEOUT_MS }, async () => {
      expect((await peaceful()).worked.acknowledged).toHaveLength(events)
    })

    const kills = Array.from({ length: events }, (_, i) => i + 1).flatMap((position) => [
      { position, when: 'before' as const },
      { position, when: 'after' as const },
    ])
    const step = process.env.RETINUE_EVERY_KILL === '1' ? 1 : FULL ? every.full : every.quick
    const chosen = kills.filter((_, i) => i % step === 0)

    it.concurrent.for(chosen)(
      '$when the commit of event $position, ends as if nothing had happened',
      { timeout: TIMEOUT_MS },
      async (kill, context) => {
        context.expect(await strikePlan(flow, [kill], await peaceful(), context)).toEqual({ kills: 1 })
      },
    )
  })

  it('killed again and again, at another place each time, still ends the same', {
    timeout: TIMEOUT_MS,
  }, async (context) => {
    const peaceful = await undisturbedPlan(FLOW)()
    // Each process gets a little further than the one before it.
    const blows = Array.from({ length: 7 }, (_, i) => ({
      position: 20 + 3 * i,
      when: i % 2 === 0 ? ('before' as const) : ('after' as const),
    }))
    const { kills } = await strikePlan(FLOW, blows, peaceful, context)
    expect(kills).toBeGreaterThanOrEqual(5)
  })

  it('killed while a person is asked about it is asked about again, and then carried out', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const flow = { ...FLOW, goal: { ...FLOW.goal, options: { ...FLOW.goal.options, approve: 'ask' as const } } }
    const { cwd, before } = flowProject(flow.script, onTestFinished)
    const killed = await workPlan(cwd, null, { file: '.retinue/asked' }, flow, 'never')
    const run_id = (await runOf(cwd)) as string
    const log = await eventsOf(cwd, run_id)
    expect(log.filter(({ type }) => type === 'plan.step_started').map(({ data }) => data)).toHaveLength(3)
    const resumed = await workPlan(cwd, run_id, null, flow, 'approve')
    const acknowledged = [killed, resumed].flatMap((one) => one.acknowledged)
    await checkPlanLanded(cwd, run_id, flow, before, acknowledged, expect)
    expect(readFileSync(join(cwd, '.retinue/asked'), 'utf8')).toBe('plan\nplan\n')
    const answers = (await eventsOf(cwd, run_id)).filter(({ type }) => type === 'plan.approval_answered')
    expect(answers.map(({ data }) => data)).toMatchObject([{ step: null, answer: 'approved', by: 'person' }])
  })
})
