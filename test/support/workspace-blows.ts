import type { ExpectStatic } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import type { WhenFinished } from './project.js'
import { finishedIn } from './tree-check.js'
import { modelCalls } from './tree-work.js'
import { checkLanded, checkUntouched } from './workspace-check.js'
import { callsByAgent, type Peaceful } from './workspace-peace.js'
import { workspaceProject } from './workspace-run.js'
import { type Blow, eventsOf, runOf, workIn } from './workspace-work.js'

type Tested = { expect: ExpectStatic; onTestFinished: WhenFinished }

/**
 * Kills a run and each process that goes on with it, the first so, the second so, until nothing kills any more. It
 * ends as one that nobody killed.
 */
export async function strike(blows: readonly Blow[], peaceful: Peaceful, { expect, onTestFinished }: Tested) {
  const { cwd, before } = workspaceProject(onTestFinished)
  const acknowledged: StoredEvent[] = []
  let run_id: string | null = null
  let log: StoredEvent[] = []
  let kills = 0
  for (const blow of [...blows, null]) {
    const worked = await workIn(cwd, run_id, blow)
    acknowledged.push(...worked.acknowledged)
    const again = modelCalls(cwd).filter(
      ({ pid, agent_id }) => pid === worked.pid && finishedIn(log).includes(agent_id),
    )
    expect(again).toEqual([])
    if (worked.result) break
    kills += 1
    run_id = await runOf(cwd)
    // Nothing was ever acknowledged: there is no run, and nothing to resume.
    if (run_id === null) expect(acknowledged).toEqual([])
    log = run_id === null ? [] : await eventsOf(cwd, run_id)
    checkUntouched(cwd, before, log, expect)
  }
  run_id ??= (await runOf(cwd)) as string
  expect(await checkLanded(cwd, run_id, before, acknowledged, expect)).toEqual(peaceful.told)
  // Only the call that was under way when the process died is made a second time.
  for (const [agent_id, count] of callsByAgent(cwd)) {
    const usual = peaceful.calls.get(agent_id) as number
    expect(count).toBeGreaterThanOrEqual(usual)
    expect(count).toBeLessThanOrEqual(usual + kills)
  }
  return { kills }
}
