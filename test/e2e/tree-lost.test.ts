import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryStore, createRetinue, type Run, type StoredEvent } from '../../src/index.js'
import {
  createScriptedModel,
  modelsOf,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/index.js'
import { endsOf } from '../support/busy-tree.js'
import { makeProject } from '../support/project.js'

vi.setConfig({ testTimeout: 60_000 })

const FULL = process.env.RETINUE_FULL === '1'
const NEVER = 3_600_000
const SETTINGS = {
  mode: 'dangerous' as const,
  delegation: { profiles: { lead: { can_spawn_children: true } } },
}

/** a1 is done early, a2 fails, a3 has a sub-agent that is at work for a while. */
const AGENTS: ScriptedModelOptions['agents'] = {
  root: [
    { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }, { spawn: { task: 'Three', profile: 'lead' } }] },
    { calls: [{ spawn_await: { job_ids: 'a1' } }] },
    { calls: [{ spawn_await: { job_ids: '*' } }] },
    { expect: { contains: ['[a2: ERROR]', '[a3: OK]'] }, text: 'Done.' },
  ],
  a1: [{ calls: [{ list_dir: {} }] }, { text: 'First.' }],
  a2: [{ fail: { code: 'auth', message: 'no entry' } }],
  a3: [{ calls: [{ spawn: { task: 'Below' } }] }, { calls: [{ spawn_await: { job_ids: '*' } }] }, { text: 'Third.' }],
  'a3.1': [
    { delay_ms: 10, calls: [{ read_file: { path: 'a.txt' } }] },
    { delay_ms: 10, text: 'Below.' },
  ],
}
const ENDS = { root: 'completed', a1: 'completed', a2: 'error', a3: 'completed', 'a3.1': 'completed' }

async function opened(agents: ScriptedModelOptions['agents'], store = createMemoryStore({ clock: Date })) {
  const cwd = makeProject({ 'a.txt': 'alpha\n' })
  const model = createScriptedModel({ name: 'test', agents })
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings: SETTINGS })
  return { cwd, store, model, retinue }
}

/** How a run ends: its outcome, or the code of what it rejects with. */
function endOf(run: Run): Promise<string> {
  return run.result().then(
    ({ outcome }) => outcome,
    ({ code }: { code: string }) => code,
  )
}

function asked(model: ScriptedModel, agent_id: string): number {
  return model.requests.filter(({ caller }) => caller.agent_id === agent_id).length
}

/** Resolves with the first event that fits. */
async function event(run: Run, fits: (event: StoredEvent) => boolean): Promise<StoredEvent> {
  for await (const one of run) if (fits(one)) return one
  throw new Error('the run was over before that')
}

const asking = (agent: string) => (one: StoredEvent) => one.agent_id === agent && one.type === 'model.requested'

/** A run in which something happens at its n-th append, before or after it is durable. */
async function interrupted(n: number, when: 'before' | 'after', act: (run: Run) => void) {
  const { store, model, retinue } = await opened(AGENTS)
  const append = store.append.bind(store)
  let appends = 0
  let run: Run | null = null
  store.append = async (batch) => {
    const now = ++appends === n
    if (now && when === 'before' && run) act(run)
    const written = await append(batch)
    if (now && when === 'after' && run) act(run)
    return written
  }
  run = retinue.run({ task: 'Work' })
  const ended = await endOf(run)
  return { retinue, model, ended, appends, run_id: run.run_id, log: await store.read({ run_id: run.run_id }) }
}

/** In its own stream, which is the one that says what it knew. A call that was being prepared is refused instead. */
function begunAfterCancel(log: readonly StoredEvent[], id: string): string[] {
  const own = log.filter(({ agent_id }) => agent_id === id)
  const cancelled = own.findIndex(({ type }) => /cancel_requested/.test(type))
  const after = cancelled < 0 ? [] : own.slice(cancelled)
  const refused = after.flatMap((one) =>
    one.type === 'tool.finished' && one.data.content.startsWith('Not started') ? [one.data.call_id] : [],
  )
  return after.flatMap((one) => {
    if (one.type === 'tool.called') return refused.includes(one.data.call_id) ? [] : [one.type]
    return /^(model\.requested|agent\.subagent_created)$/.test(one.type) ? [one.type] : []
  })
}

/** More appends than the run makes are no harm: it is over before. Every fifth of them in the quick suite. */
const places = Array.from({ length: 36 }, (_, i) => i + 1)
  .flatMap((n) => [
    { n, when: 'before' as const },
    { n, when: 'after' as const },
  ])
  .filter((_, i) => FULL || i % 11 === 0)

describe.each(places)('$when append $n', ({ n, when }) => {
  it('a cancel closes every sub-agent once, and nothing is begun after it', async () => {
    const { ended, log } = await interrupted(n, when, (run) => run.cancel('enough'))
    const { ends, faults } = endsOf(log)
    expect(faults).toEqual([])
    expect(['cancelled', 'completed']).toContain(ended)
    if (ended === 'completed') return expect(ends).toEqual(ENDS)
    // What was done before it stays done; all else was cancelled.
    const others = Object.entries(ends).filter(([, outcome]) => outcome !== 'cancelled')
    expect(Object.fromEntries(others)).toEqual(
      Object.fromEntries(others.map(([id]) => [id, ENDS[id as keyof typeof ENDS]])),
    )
    for (const id of ['root', 'a1', 'a2', 'a3', 'a3.1']) expect(begunAfterCancel(log, id)).toEqual([])
  })

  it('letting go leaves a tree that a resume brings to the same end, without asking anyone twice who was done', async () => {
    const { retinue, model, ended, log, run_id } = await interrupted(n, when, (run) => run.leave('test'))
    if (ended === 'completed') return
    expect(ended).toBe('abandoned')
    const finished = log.flatMap(({ type, agent_id }) =>
      type === 'agent.subagent_waiting_for_merge' || (type === 'agent.subagent_failed' && agent_id !== 'root')
        ? [agent_id]
        : [],
    )
    const before = finished.map((id) => asked(model, id))
    expect(await retinue.resume(run_id).result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(finished.map((id) => asked(model, id))).toEqual(before)
    expect(endsOf(await retinue.events(run_id))).toEqual({ ends: ENDS, faults: [] })
    expect(await retinue.replay(run_id)).toMatchObject({ ok: true, agents: 5 })
  })
})

describe('a program', () => {
  const HANGING: ScriptedModelOptions['agents'] = {
    ...AGENTS,
    'a3.1': [{ delay_ms: NEVER, text: 'Below.' }],
  }
  const CANCELLED = { root: 'cancelled', a1: 'completed', a2: 'error', a3: 'cancelled', 'a3.1': 'cancelled' }
  /** The others are over by then. */
  const waiting = (one: StoredEvent) =>
    one.agent_id === 'root' && one.type === 'tool.called' && one.data.args.job_ids === '*'

  it('cancels a tree with a signal', async () => {
    const { retinue } = await opened(HANGING)
    const controller = new AbortController()
    const run = retinue.run({ task: 'Work', signal: controller.signal })
    await Promise.all([event(run, waiting), event(run, asking('a3.1'))])
    controller.abort('enough')
    expect(await run.result()).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('enough') })
    expect(endsOf(await retinue.events(run.run_id))).toEqual({ ends: CANCELLED, faults: [] })
  })

  it('cancels a tree with cancel()', async () => {
    const { retinue } = await opened(HANGING)
    const run = retinue.run({ task: 'Work' })
    await Promise.all([event(run, waiting), event(run, asking('a3.1'))])
    run.cancel('enough')
    expect(await endOf(run)).toBe('cancelled')
    expect(endsOf(await retinue.events(run.run_id))).toEqual({ ends: CANCELLED, faults: [] })
  })

  it('closes in the middle of a tree, and another goes on with it', async () => {
    const cwd = makeProject({ 'a.txt': 'alpha\n' })
    const file = join(cwd, '.retinue', 'retinue.db')
    const open = async (agents: ScriptedModelOptions['agents']) => {
      const model = createScriptedModel({ name: 'test', agents })
      return { model, retinue: await createRetinue({ cwd, store: file, models: modelsOf(model), settings: SETTINGS }) }
    }
    const first = await open(HANGING)
    const run = first.retinue.run({ task: 'Work' })
    const end = endOf(run)
    await Promise.all([event(run, waiting), event(run, asking('a3.1'))])
    await first.retinue.close()
    expect(await end).toBe('abandoned')

    const second = await open(AGENTS)
    expect(await second.retinue.find(run.run_id)).toMatchObject({ status: 'interrupted' })
    expect(await second.retinue.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(endsOf(await second.retinue.events(run.run_id))).toEqual({ ends: ENDS, faults: [] })
    expect(['a1', 'a2'].map((id) => asked(second.model, id))).toEqual([0, 0])
    await second.retinue.close()
  })
})

describe('what sub-agents found', () => {
  const types = (log: readonly StoredEvent[], agent_id: string) =>
    log.filter((one) => one.agent_id === agent_id).map(({ type }) => type.replace(/^agent\./, ''))

  it('reaches a parent that answers while they are open, in one more turn', async () => {
    const { retinue, model } = await opened({
      root: [
        { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
        { text: 'Too early.' },
        { expect: { contains: ['had not asked for', '[a1: OK]', 'First.', '[a2: ERROR]', 'no entry'] }, text: 'Done.' },
      ],
      a1: [{ delay_ms: 30, text: 'First.' }],
      a2: [{ fail: { code: 'auth', message: 'no entry' } }],
    })
    const run = retinue.run({ task: 'Work' })
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.', turns: 3 })
    expect(model.violations).toEqual([])
    const log = await retinue.events(run.run_id)
    expect(endsOf(log)).toEqual({ ends: { root: 'completed', a1: 'completed', a2: 'error' }, faults: [] })
    expect(types(log, 'root').slice(-5)).toEqual([
      'results_delivered',
      'model.requested',
      'model.responded',
      'finished',
      'run.closed',
    ])
  })

  it('is in the report of a parent whose budget has ended; those that are open are cancelled first', async () => {
    const { retinue, model } = await opened({
      root: {
        steps: [
          { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
          { calls: [{ spawn_await: { job_ids: 'a1' } }] },
        ],
        report: [{ text: 'As far as I came.' }],
      },
      a1: [{ text: 'First.' }],
      a2: [{ delay_ms: NEVER, text: 'Second.' }],
    })
    const run = retinue.run({ task: 'Work', budget: { turns: 2 } })
    expect(await run.result()).toMatchObject({ outcome: 'budget_exceeded', text: 'As far as I came.' })
    expect(model.violations).toEqual([])
    const log = await retinue.events(run.run_id)
    expect(endsOf(log)).toEqual({ ends: { root: 'budget_exceeded', a1: 'completed', a2: 'cancelled' }, faults: [] })
    const told = model.requests.filter(({ caller }) => caller.purpose === 'report')
    expect(told).toHaveLength(1)
    expect(JSON.stringify(told)).toMatch(/\[a2: ERROR\]\\ncancelled: cancelled by parent/)
  })

  it('is closed with a parent that runs out of time', async () => {
    const { retinue } = await opened({
      root: [
        { calls: [{ spawn: { task: 'One' } }] },
        { calls: [{ spawn_await: { job_ids: '*' } }] },
        // Its time and that of its sub-agent are up in the same moment, and it may hear of that one first.
        { delay_ms: NEVER, text: 'Late.' },
      ],
      a1: [{ delay_ms: NEVER, text: 'First.' }],
    })
    const run = retinue.run({ task: 'Work', budget: { wall_ms: 10_000 } })
    expect(await run.result()).toMatchObject({ outcome: 'timeout' })
    expect(endsOf(await retinue.events(run.run_id)).faults).toEqual([])
  })

  it('is closed with a parent whose model fails', async () => {
    const { retinue } = await opened({
      root: [
        { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
        { calls: [{ spawn_await: { job_ids: 'a1' } }] },
        { fail: { code: 'auth', message: 'no entry' } },
      ],
      a1: [{ text: 'First.' }],
      a2: [{ delay_ms: NEVER, text: 'Second.' }],
    })
    const run = retinue.run({ task: 'Work' })
    expect(await run.result()).toMatchObject({ outcome: 'error', cause: 'auth' })
    expect(endsOf(await retinue.events(run.run_id))).toEqual({
      ends: { root: 'error', a1: 'completed', a2: 'cancelled' },
      faults: [],
    })
  })

  it('can be read again, also after a restart', async () => {
    const { retinue, model } = await opened({
      root: [
        { calls: [{ spawn_agent: { task: 'One' } }] },
        { expect: '[COMPLETED]', delay_ms: 50, calls: [{ spawn_await: { job_ids: 'a1' } }] },
        { expect: { contains: ['[a1: OK]', 'First.'] }, calls: [{ read_output: { output: 'a1' } }] },
        { expect: 'First.', text: 'Done.' },
      ],
      a1: [{ text: 'First.' }],
    })
    const run = retinue.run({ task: 'Work' })
    await event(run, ({ agent_id, type }) => agent_id === 'root' && type === 'agent.subagent_closed')
    run.leave('test')
    expect(await endOf(run)).toBe('abandoned')
    expect(await retinue.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(model.violations).toEqual([])
    expect(asked(model, 'a1')).toBe(1)
  })
})
