import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endsOf } from '../support/busy-tree.js'
import { BUSY_SETTINGS } from '../support/busy-workers.js'
import { sharedPostgres } from '../support/postgres.js'
import { isStopped } from '../support/processes.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { modelCalls } from '../support/tree-work.js'
import { openFace, startWorkers, type WorkerOrder, WorkerVictim } from '../support/worker-victim.js'

/** Something that a worker does after it was stopped shows by then. */
const QUICK = { 'quick.yaml': 'agents: { root: [{ text: Quick. }] }\n' }

async function place(script: string, finished: WhenFinished) {
  const store = await (await sharedPostgres()).database({ finished })
  const cwd = makeProject({ 'script.yaml': script, ...QUICK }, { finished })
  const order: WorkerOrder = { cwd, store, settings: BUSY_SETTINGS, concurrency: 1 }
  return { cwd, order, face: await openFace(order, finished) }
}

it('a worker that is stopped when it has written what it is about to do does not do it when it goes on late', async ({
  onTestFinished,
}) => {
  const { cwd, order, face } = await place('agents: { root: [{ text: All done. }] }', onTestFinished)
  const kill = { type: 'model.requested', agent_id: 'root', when: 'after', signal: 'SIGSTOP' } as const
  const late = new WorkerVictim({ ...order, kill }, onTestFinished)
  await late.begin()
  const run = face.run({ task: 'Do the work' })
  await late.appended('model.requested', 'root')
  const [heir] = (await startWorkers(1, order, onTestFinished)) as [WorkerVictim]
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  await heir.stop()
  late.signal('SIGCONT')
  const next = face.run({ task: 'Be quick', model: 'scripted/quick.yaml' })
  expect(await next.result()).toMatchObject({ outcome: 'completed', text: 'Quick.' })
  expect(endsOf(await face.events(run.run_id))).toEqual({ ends: { root: 'completed' }, faults: [] })
  const calls = modelCalls(cwd).map(({ pid }) => pid)
  expect(calls).toEqual([heir.pid, late.pid])
})

it('a sub-agent that was cancelled before it began is begun by no worker, however late that comes to it', async ({
  onTestFinished,
}) => {
  const script = `
agents:
  root:
    - calls:
        - spawn: { task: Never begun, profile: slow }
    - calls:
        - run_command: { command: "until [ -e go ]; do sleep 0.05; done", timeout_ms: 300000 }
    - calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: too much }
      text: All done.
  a1:
    - text: Begun.
`
  const { cwd, order, face } = await place(script, onTestFinished)
  const [lead] = (await startWorkers(1, order, onTestFinished)) as [WorkerVictim]
  const run = face.run({ task: 'Do the work' })
  await lead.appended('agent.subagent_created', 'root')
  const kill = { type: 'agent.subagent_started', agent_id: 'a1', when: 'before', signal: 'SIGSTOP' } as const
  const late = new WorkerVictim({ ...order, kill }, onTestFinished)
  await late.begin()
  await expect.poll(() => isStopped(late.pid)).toBe(true)
  await startWorkers(1, order, onTestFinished)
  expect(await face.cancelAgent(run.run_id, 'a1', 'ada', 'too much')).toMatchObject({ outcome: 'cancelled' })
  late.signal('SIGCONT')
  await expect.poll(() => late.refused).toMatchObject([{ agent_id: 'a1' }])
  writeFileSync(join(cwd, 'go'), '')
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  const log = await face.events(run.run_id)
  expect(endsOf(log)).toEqual({ ends: { root: 'completed', a1: 'cancelled' }, faults: [] })
  expect(log.filter(({ agent_id }) => agent_id === 'a1')).toEqual([])
  expect(modelCalls(cwd).filter(({ agent_id }) => agent_id === 'a1')).toEqual([])
})
