import { type ExpectStatic, expect as theirs } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { type CameTo, checkPlanLanded } from './plan-check.js'
import { type Flow, flowProject, PLAN_SETTINGS } from './plan-flow.js'
import type { WhenFinished } from './project.js'
import { finishedIn } from './tree-check.js'
import { modelCalls } from './tree-work.js'
import { checkUntouched } from './workspace-check.js'
import { callsByAgent } from './workspace-peace.js'
import { type Blow, eventsOf, runOf, type Worked, workIn } from './workspace-work.js'

export type Tested = { expect: ExpectStatic; onTestFinished: WhenFinished }

export type PeacefulPlan = { worked: Worked; came_to: CameTo; calls: Map<string, number> }

/** Goes on with the plan of a flow in a process of its own, or begins it. `person`: as the victim is told. */
export function workPlan(
  cwd: string,
  run_id: string | null,
  blow: Blow | null,
  { goal }: Pick<Flow, 'goal'>,
  person: 'approve' | 'never' | null = null,
): Promise<Worked> {
  return workIn(cwd, run_id, blow, { goal, person, settings: PLAN_SETTINGS })
}

/** What comes of a flow that nobody disturbs, made once for all tests of a file. */
export function undisturbedPlan(flow: Flow): () => Promise<PeacefulPlan> {
  let made: Promise<PeacefulPlan> | null = null
  const make = async () => {
    const clean: (() => void | Promise<void>)[] = []
    const { cwd, before } = flowProject(flow.script, (work) => clean.push(work))
    try {
      const worked = await workPlan(cwd, null, null, flow)
      const run_id = (await runOf(cwd)) as string
      const came_to = await checkPlanLanded(cwd, run_id, flow, before, worked.acknowledged, theirs)
      return { worked, came_to, calls: callsByAgent(cwd) }
    } finally {
      for (const work of clean) await work()
    }
  }
  return () => {
    made ??= make()
    return made
  }
}

/**
 * Kills the run of a flow and each process that goes on with it, the first so, the second so, until nothing kills any
 * more. It ends as one that nobody killed, and nothing is paid twice but for the calls that were under way.
 */
export async function strikePlan(
  flow: Flow,
  blows: readonly Blow[],
  peaceful: PeacefulPlan,
  { expect, onTestFinished }: Tested,
): Promise<{ kills: number }> {
  const { cwd, before } = flowProject(flow.script, onTestFinished)
  const acknowledged: StoredEvent[] = []
  let run_id: string | null = null
  let log: StoredEvent[] = []
  let kills = 0
  for (const blow of [...blows, null]) {
    const worked = await workPlan(cwd, run_id, blow, flow)
    acknowledged.push(...worked.acknowledged)
    const finished = finishedIn(log)
    const again = modelCalls(cwd).filter(({ pid, agent_id }) => pid === worked.pid && finished.includes(agent_id))
    expect(again).toEqual([])
    if (worked.result) break
    kills += 1
    run_id = await runOf(cwd)
    // Nothing was ever acknowledged: there is no run, and nothing to resume.
    if (run_id === null) expect(acknowledged).toEqual([])
    log = run_id === null ? [] : await eventsOf(cwd, run_id)
    checkUntouched(cwd, before, log, expect, flow.landed(before.files))
  }
  run_id ??= (await runOf(cwd)) as string
  expect(await checkPlanLanded(cwd, run_id, flow, before, acknowledged, expect)).toEqual(peaceful.came_to)
  expectPaidOnce(cwd, peaceful, kills, expect)
  return { kills }
}

/** Only a call that was under way when a process died is made again. */
function expectPaidOnce(cwd: string, { calls }: PeacefulPlan, kills: number, expect: ExpectStatic): void {
  const made = callsByAgent(cwd)
  expect([...made.keys()].sort()).toEqual([...calls.keys()].sort())
  for (const [agent_id, count] of made) {
    const usual = calls.get(agent_id) as number
    expect(count).toBeGreaterThanOrEqual(usual)
    expect(count).toBeLessThanOrEqual(usual + kills)
  }
}
