import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type Retinue, type Run, type StoredEvent } from '../../src/index.js'
import { undisturbedPlan } from '../support/plan-blows.js'
import { checkPlanLanded, checkSteps } from '../support/plan-check.js'
import { FLOW, flowProject, PLAN_SETTINGS } from '../support/plan-flow.js'
import { sampled } from '../support/sampled.js'
import { describeSandboxed } from '../support/sandbox.js'
import { finishedIn } from '../support/tree-check.js'
import { aboutChildren, checkLog } from '../support/workspace-check.js'
import { checkout } from '../support/workspace-run.js'

const TIMEOUT_MS = 240_000

type Place = { where: string; agent_id: string; type: StoredEvent['type']; kept: string[] }

/** Where a run is stopped, and the files in which there is work by then that must not be lost. */
const PLACES: Place[] = [
  { where: 'while researchers look', agent_id: 'a2', type: 'tool.called', kept: [] },
  { where: 'when the plan is made', agent_id: 'root', type: 'plan.adopted', kept: [] },
  { where: 'while executors write', agent_id: 'a4', type: 'tool.finished', kept: [] },
  {
    where: 'when a defect is found',
    agent_id: 'root',
    type: 'plan.reviewed',
    kept: ['src/duration.js', 'src/slug.js'],
  },
  { where: 'while it is mended', agent_id: 'a7', type: 'tool.called', kept: ['src/duration.js', 'src/slug.js'] },
]

async function begun(): Promise<{ cwd: string; retinue: Retinue; before: ReturnType<typeof checkout> }> {
  const { cwd, before } = flowProject(FLOW.script, onTestFinished)
  const retinue = await createRetinue({ cwd, settings: PLAN_SETTINGS })
  onTestFinished(() => retinue.close())
  return { cwd, retinue, before }
}

/** Begins the flow, does something once it is at the place, and answers when the run is no longer at work here. */
async function stoppedAt(retinue: Retinue, place: Place, stop: (run: Run) => Promise<unknown>) {
  const run = retinue.planForGoal(FLOW.goal.text, FLOW.goal.options)
  const result = run.result().catch((error: unknown) => error)
  let stopping: Promise<unknown> | null = null
  const follow = async () => {
    for await (const { agent_id, type } of run) {
      if (agent_id === place.agent_id && type === place.type) stopping ??= stop(run)
    }
  }
  // A run that is left is no longer followed either.
  await follow().catch(() => {})
  if (stopping === null) throw new Error(`never at ${place.type} of ${place.agent_id}: ${JSON.stringify(await result)}`)
  return { run_id: run.run_id, stopped: await stopping, result: await result }
}

describeSandboxed('the complex-task flow', () => {
  const peaceful = undisturbedPlan(FLOW)

  describe.each(sampled(PLACES, 2))('$where', (place) => {
    it('is paused: what is at work is finished, and a resume does the rest', { timeout: TIMEOUT_MS }, async () => {
      const { cwd, retinue, before } = await begun()
      const pause = ({ run_id }: Run) => retinue.pause(run_id, 'person', 'lunch')
      const { run_id, stopped, result } = await stoppedAt(retinue, place, pause)
      expect(stopped).toMatchObject({ run_id, status: 'interrupted' })
      expect(result).toBeInstanceOf(Error)
      const paused = await retinue.events(run_id)
      expect(checkout(cwd)).toEqual(before)
      expect(finishedIn(paused).sort()).toEqual(aboutChildren(paused, 'agent.subagent_created').sort())
      expect(await retinue.resume(run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
      const log = await retinue.events(run_id)
      const { came_to } = await peaceful()
      expect(await checkPlanLanded(cwd, run_id, FLOW, before, paused, expect)).toEqual(came_to)
      // Nothing was under way, so nothing is asked for again.
      const asked = log.filter(({ type }) => type === 'model.requested')
      const answered = log.filter(({ type }) => type === 'model.responded')
      expect(asked).toHaveLength(answered.length)
    })

    it('is left by its process, and a resume goes on', { timeout: TIMEOUT_MS }, async () => {
      const { cwd, retinue, before } = await begun()
      const leave = async (run: Run) => run.leave('the process ends')
      const { run_id, result } = await stoppedAt(retinue, place, leave)
      expect(result).toBeInstanceOf(Error)
      const left = await retinue.events(run_id)
      expect(checkout(cwd)).toEqual(before)
      expect(await retinue.resume(run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
      const { came_to } = await peaceful()
      expect(await checkPlanLanded(cwd, run_id, FLOW, before, left, expect)).toEqual(came_to)
    })

    it('is cancelled: all is closed, nothing lands, and the work is kept', { timeout: TIMEOUT_MS }, async () => {
      const { cwd, retinue, before } = await begun()
      // At once, not when it is heard: what is at work must not get further meanwhile.
      const cancel = async (run: Run) => run.cancel('enough')
      const { run_id, result } = await stoppedAt(retinue, place, cancel)
      expect(result).toMatchObject({ outcome: 'cancelled' })
      const { log } = await checkLog(cwd, run_id, [], expect)
      checkSteps(log, expect)
      expect(await retinue.planOutcome(run_id)).toMatchObject({ status: 'failed' })
      expect(checkout(cwd)).toEqual(before)
      const kept = place.kept.length > 0 ? await retinue.diff(run_id) : ''
      expect((kept.match(/(?<=^\+\+\+ b\/).*$/gm) ?? []).sort()).toEqual(place.kept)
    })
  })
})
