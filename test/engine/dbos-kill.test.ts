import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { running } from '../support/processes.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { checkTreeIn, finishedIn } from '../support/tree-check.js'
import { FOUR, TREE_SETTINGS, treeProject } from '../support/tree-run.js'
import { modelCalls } from '../support/tree-work.js'
import { openFace, startWorkers, type WorkerKill, WorkerVictim } from '../support/worker-victim.js'

const FULL = process.env.RETINUE_FULL === '1'

/** These runs are about who works on them; what worktrees come to after a kill is shown apart. */
const SETTINGS = { ...TREE_SETTINGS, workspace: { isolation: 'shared' as const } }

/** Events that one worker appends in an undisturbed run, those of waking aside: the sweep kills at each of them. */
const EVENTS = 78
const EVERY = FULL ? 1 : 30

/** A worker whose process died is known to be gone, and what it had is taken up, within this. */
const GOES_ON_MS = 10_000

async function newOrder(script: string, finished: WhenFinished) {
  const store = await (await sharedPostgres()).database({ finished })
  return { cwd: treeProject(script, finished), store, settings: SETTINGS }
}

/** The first event that somebody else than the dead appended to the stream of an agent that it had. */
function wentOnAt(log: readonly StoredEvent[], died_at: number): number {
  return (
    log.find(({ type, at }) => at >= died_at && (type === 'agent.resumed' || type === 'agent.woken'))?.at ?? Infinity
  )
}

/** A run that loses its worker, and goes on with another. */
async function outlive(kill: WorkerKill, finished: WhenFinished, machines = false) {
  const order = await newOrder(FOUR.script, finished)
  const face = await openFace(order, finished)
  const on = (machine: string) => (machines ? { machine } : {})
  const victim = new WorkerVictim({ ...order, ...on('first'), kill }, finished)
  const heir = new WorkerVictim({ ...order, ...on('second') }, finished)
  await victim.begin()
  const run = face.run({ task: 'Do the work' })
  const { at: died_at, signal } = await victim.ended
  const finished_by_then = finishedIn(await face.events(run.run_id))
  await heir.begin()
  const begun_at = Date.now()
  await run.result()
  await checkTreeIn(face, run.run_id, FOUR, [...victim.acknowledged, ...heir.acknowledged], expect)
  const log = await face.events(run.run_id)
  const calls = modelCalls(order.cwd)
  // What a busy machine takes to start another is not counted.
  const idle_ms = wentOnAt(log, died_at) - Math.max(died_at, begun_at)
  return { idle_ms, signal, calls, finished_by_then, heir }
}

const perAgent = (calls: readonly { agent_id: string }[], agent_id: string) =>
  calls.filter((call) => call.agent_id === agent_id).length

/** How often the model of each agent of an undisturbed run is asked. */
const CALLS = { root: 4, a1: 2, a2: 5, a3: 2, a4: 2 }

describe('a worker that is killed with SIGKILL', () => {
  const kills = Array.from({ length: EVENTS }, (_, i) => i + 1).flatMap((position) => [
    { position, when: 'before' as const },
    { position, when: 'after' as const },
  ])
  const chosen = kills.filter((_, i) => i % EVERY === 7 % EVERY || i === kills.length - 1)

  it.concurrent.for(chosen)(
    '$when the commit of event $position is followed by another, as if nothing had happened',
    async (kill, { onTestFinished, expect }) => {
      const { signal, finished_by_then, calls, heir } = await outlive(kill, onTestFinished)
      expect(signal).toBe('SIGKILL')
      expect(calls.filter(({ pid, agent_id }) => pid === heir.pid && finished_by_then.includes(agent_id))).toEqual([])
      // Only the call that was under way when the process died is made a second time.
      for (const [agent_id, count] of Object.entries(CALLS)) {
        expect(perAgent(calls, agent_id)).toBeGreaterThanOrEqual(count)
        expect(perAgent(calls, agent_id)).toBeLessThanOrEqual(count + 1)
      }
    },
  )

  const MOMENTS: { name: string; kill: WorkerKill }[] = [
    { name: 'while a model is asked', kill: { type: 'model.requested', agent_id: 'a2', when: 'after' } },
    { name: 'while a tool is at work', kill: { type: 'tool.called', agent_id: 'a1', when: 'after' } },
    {
      name: 'when a sub-agent has ended and nobody was told',
      kill: { type: 'agent.subagent_waiting_for_merge', agent_id: 'a2', when: 'after' },
    },
    { name: 'while the parent judges', kill: { type: 'agent.gate_started', agent_id: 'root', when: 'after' } },
    {
      name: 'before the parent has closed one',
      kill: { type: 'agent.subagent_closed', agent_id: 'root', when: 'before' },
    },
  ]
  it.concurrent.for(MOMENTS)(
    '$name has its agents go on on another machine, which cannot know that it is dead, within ten seconds',
    async ({ kill }, { onTestFinished, expect }) => {
      const { signal, idle_ms, calls } = await outlive(kill, onTestFinished, true)
      expect(signal).toBe('SIGKILL')
      expect(idle_ms).toBeLessThan(GOES_ON_MS)
      for (const [agent_id, count] of Object.entries(CALLS)) {
        expect(perAgent(calls, agent_id)).toBeLessThanOrEqual(count + 1)
      }
    },
  )
})

describe('a worker that is stopped for longer than its leases live', () => {
  it('can write nothing when it goes on, ends what it had started, and takes new work', async ({ onTestFinished }) => {
    const mark = `36.${process.pid}`
    const script = `
agents:
  root:
    - calls:
        - run_command: { command: "echo begun >> begun.log; sleep ${mark}", timeout_ms: 300000 }
    - expect: { contains: Interrupted }
      text: All done.
`
    const store = await (await sharedPostgres()).database({ finished: onTestFinished })
    const cwd = makeProject({ 'script.yaml': script, 'quick.yaml': 'agents: { root: [{ text: Quick. }] }' })
    const order = { cwd, store, settings: SETTINGS }
    const [stopped] = (await startWorkers(1, order, onTestFinished)) as [WorkerVictim]
    const face = await openFace(order, onTestFinished)
    const run = face.run({ task: 'Do the work' })
    await expect.poll(() => running('sleep', mark)).toHaveLength(1)
    stopped.signal('SIGSTOP')
    const [heir] = (await startWorkers(1, order, onTestFinished)) as [WorkerVictim]
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
    const before = await face.events(run.run_id)
    stopped.signal('SIGCONT')
    await expect.poll(() => running('sleep', mark)).toEqual([])
    expect(await face.events(run.run_id)).toEqual(before)
    expect(await face.store.verify(run.run_id)).toBe(null)
    // What the log has after it was stopped is the other's.
    const resumed = before.findLastIndex(({ type }) => type === 'agent.resumed')
    expect(resumed).toBeGreaterThan(before.findIndex(({ type }) => type === 'tool.called'))
    const foreign = new Set(stopped.acknowledged.map(({ position }) => position))
    expect(before.slice(resumed).filter(({ position }) => foreign.has(position))).toEqual([])
    expect(readFileSync(join(cwd, 'begun.log'), 'utf8')).toBe('begun\n')
    await heir.stop()
    const next = face.run({ task: 'Be quick', model: 'scripted/quick.yaml' })
    expect(await next.result()).toMatchObject({ outcome: 'completed', text: 'Quick.' })
    expect(stopped.acknowledged.filter(({ run_id }) => run_id === next.run_id)).not.toEqual([])
  })
})
