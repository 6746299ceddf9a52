import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type AgentMemory, isOpen, reduce } from '../../src/domain/index.js'
import type { Person, Store, StoredEvent } from '../../src/index.js'
import { family, gate } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { makeProject, tree } from '../support/project.js'

/** Far more than any of them takes, and less than anybody waits for a run in which each waits for the other. */
const TIMEOUT = { timeout: 120_000 }
const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const DONE = { text: 'Done.' }
const AUTO = { mode: 'auto' } as const
const SOUND = { reserved: { total_tokens: 0, cost_usd: 0, sub_agents: 0 }, other: 0 }

const write = (path: string) => [{ calls: [{ write_file: { path, content: 'x\n' } }] }, DONE]
const step = (id: string, more: object = {}) => ({ ...STEP, id, title: id, owns: [`${id}/**`], ...more })

/** Each writes one file in the folder that its step owns. */
const writers = (...ids: string[]) =>
  ids.map((id) => ({ when: { contains: `Write ${id}` }, steps: write(`${id}/b.txt`) }))

const endsIn = (log: StoredEvent[]) => dataOf(log, 'plan.step_ended').map(({ step, status }) => `${step} ${status}`)

/**
 * What the ledger of the root says at the end: what is set aside, and what was spent besides what sub-agents said that
 * they used. On the way there what is set aside is what belongs to those at work.
 */
function ledgerIn(log: StoredEvent[]) {
  let memory: AgentMemory | null = null
  for (const event of log.filter(({ agent_id }) => agent_id === 'root')) {
    memory = reduce(memory, event)
    if (!memory) continue
    const shares = memory.children
      .filter((child) => isOpen(child) && !child.settled)
      .map(({ contract }) => contract?.execution.budget.total_tokens ?? 0)
    expect(memory.ledger.reserved.total_tokens).toBe(shares.reduce((sum, share) => sum + share, 0))
  }
  const used = dataOf(log, 'agent.subagent_closed').reduce((sum, { used }) => sum + used.total_tokens, 0)
  return { reserved: memory?.ledger.reserved, other: Number(memory?.ledger.spent.total_tokens) - used }
}

async function logOf(run: AsyncIterable<StoredEvent>, watch: (event: StoredEvent) => void = () => {}) {
  const log: StoredEvent[] = []
  for await (const event of run) {
    log.push(event)
    watch(event)
  }
  return log
}

describe('delegate_task', () => {
  it('one at a time, whatever they depend on', TIMEOUT, async () => {
    const subtasks = [{ task: 'Write A' }, { task: 'Write B', depends_on: 0 }, { task: 'Write C' }]
    const { retinue, cwd, model } = await family(
      {
        root: [{ calls: [{ delegate_task: { plan: 'P', subtasks } as never }] }, DONE],
        // The second is told of the first.
        'a*': [{ branches: writers('B', 'A', 'C') }],
      },
      { settings: { ...AUTO, max_concurrent: 1 } },
    )
    const run = retinue.run({ task: 'Work' })
    const log = await logOf(run)
    expect((await run.result()).outcome).toBe('completed')
    expect(endsIn(log)).toEqual(['0 completed', '1 completed', '2 completed'])
    expect(tree(cwd)).toEqual({ 'A/b.txt': 'x\n', 'B/b.txt': 'x\n', 'C/b.txt': 'x\n' })
    model.assertAllUsed()
  })

  it('one that waits to write gives its place to another', TIMEOUT, async () => {
    const subtasks = [{ task: 'Write A' }, { task: 'Write B', depends_on: 0 }, { task: 'Write C' }, { task: 'Write D' }]
    const last = gate()
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [{ delegate_task: { plan: 'P', subtasks } as never }] }, DONE],
        'a*': [{ branches: writers('B', 'A', 'C', 'D') }],
      },
      {
        settings: { ...AUTO, max_concurrent: 2 },
        hold: ({ agent_id }) => {
          if (agent_id === 'a3') last.open()
          return agent_id === 'a1' ? last.opened : undefined
        },
      },
    )
    const run = retinue.run({ task: 'Work' })
    const log = await logOf(run)
    expect((await run.result()).outcome).toBe('completed')
    expect(endsIn(log)).toEqual(['0 completed', '1 completed', '2 completed', '3 completed'])
    expect(tree(cwd)).toEqual({ 'A/b.txt': 'x\n', 'B/b.txt': 'x\n', 'C/b.txt': 'x\n', 'D/b.txt': 'x\n' })
  })
})

/** Says yes to every step that asks, when the test lets it. */
const approver = (when: Promise<void>): Person => ({
  permit: async () => null,
  answer: async () => null,
  approve: async () => {
    await when
    return { answer: 'approve' }
  },
})

describe('a budget for all, and work that waits to be joined', () => {
  const few = { total_tokens: 60_000 }
  const settled = (log: StoredEvent[]) => dataOf(log, 'agent.subagent_settled').map(({ sub_agent_id }) => sub_agent_id)

  it('gives back what it does not need while a step before it waits for a person', TIMEOUT, async () => {
    const waits = gate()
    const { retinue, cwd } = await family({ 'a*': [{ branches: writers('one', 'two') }] }, { settings: AUTO })
    const plan = planOf({
      steps: [
        step('one', { description: 'Write one', needs_approval: true }),
        step('two', { description: 'Write two' }),
      ],
    })
    const run = retinue.executePlan(plan, { maxConcurrent: 1, budget: few, person: approver(waits.opened) })
    const log = await logOf(run, ({ type }) => {
      if (type === 'agent.subagent_settled') waits.open()
    })
    expect([(await run.result()).outcome, endsIn(log)]).toEqual(['completed', ['one completed', 'two completed']])
    expect(settled(log)).toContain('a1')
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n', 'two/b.txt': 'x\n' })
    expect(ledgerIn(log)).toEqual(SOUND)
  })

  it('gives it back while a step before it waits for another', TIMEOUT, async () => {
    const looked = gate()
    const { retinue, cwd } = await family(
      {
        a1: [DONE],
        'a*': [{ branches: writers('one', 'two', 'three') }],
      },
      { settings: AUTO, hold: ({ agent_id }) => (agent_id === 'a1' ? looked.opened : undefined) },
    )
    const plan = planOf({
      steps: [
        step('look', { description: 'Look', agent: 'tester', owns: [] }),
        step('one', { description: 'Write one', depends_on: ['look'] }),
        step('two', { description: 'Write two' }),
        step('three', { description: 'Write three' }),
      ],
    })
    const run = retinue.executePlan(plan, { maxConcurrent: 2, budget: few })
    const log = await logOf(run, ({ type }) => {
      if (type === 'agent.subagent_settled') looked.open()
    })
    expect((await run.result()).outcome).toBe('completed')
    expect(endsIn(log)).toEqual(['look completed', 'one completed', 'two completed', 'three completed'])
    expect(settled(log)).toEqual(expect.arrayContaining(['a2', 'a3']))
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n', 'two/b.txt': 'x\n', 'three/b.txt': 'x\n' })
    expect(ledgerIn(log)).toEqual(SOUND)
  })

  it('gives it back to one that was refused while it was still at work', TIMEOUT, async () => {
    const [approves, works] = [gate(), gate()]
    const usage = { input_tokens: 38_000, output_tokens: 1000 }
    const { retinue, cwd } = await family(
      { a1: [{ ...DONE, usage }], 'a*': [{ branches: writers('one', 'two') }] },
      { settings: AUTO, hold: ({ agent_id }) => (agent_id === 'a2' ? works.opened : undefined) },
    )
    const budget = { total_tokens: 20_000 }
    const plan = planOf({
      steps: [
        step('look', { description: 'Look', agent: 'tester', owns: [], budget }),
        step('one', { description: 'Write one', depends_on: ['look'], needs_approval: true, budget }),
        step('two', { description: 'Write two', depends_on: ['look'], budget }),
      ],
    })
    const run = retinue.executePlan(plan, { maxConcurrent: 2, budget: few, person: approver(approves.opened) })
    const log = await logOf(run, ({ type, agent_id, data }) => {
      if (type === 'agent.subagent_attempt' && agent_id === 'a2') approves.open()
      // What the first used is more than was thought: there is nothing for this one as long as the third is at work.
      if (type === 'plan.step_started' && data.step === 'one') setTimeout(works.open, 500)
    })
    expect(settled(log)).toContain('a2')
    expect(endsIn(log)).toEqual(['look completed', 'one completed', 'two completed'])
    expect((await run.result()).outcome).toBe('completed')
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n', 'two/b.txt': 'x\n' })
  })
})

describe('a run that is paused', () => {
  it('has joined what was at work and begun nothing else, and is completed by a resume', TIMEOUT, async () => {
    const [both, goes_on] = [gate(), gate()]
    const at_work = new Set<string>()
    const listenIn = (store: Store) => {
      const signals = store.signals.bind(store)
      store.signals = async (query) => {
        const heard = await signals(query)
        if (heard.some(({ kind }) => kind === 'pause')) setTimeout(goes_on.open)
        return heard
      }
    }
    const { retinue, cwd, model } = await family(
      { a1: write('one/b.txt'), a2: write('two/b.txt'), a3: write('three/b.txt') },
      {
        spoil: listenIn,
        settings: AUTO,
        hold: ({ agent_id }) => {
          at_work.add(agent_id)
          if (at_work.size === 2) both.open()
          return goes_on.opened
        },
      },
    )
    const plan = planOf({ steps: [step('one'), step('two'), step('three', { depends_on: ['one', 'two'] })] })
    const run = retinue.executePlan(plan, { approve: 'yes' })
    const left = run.result().catch((error: unknown) => error)
    await both.opened
    const pausing = retinue.pause(run.run_id, 'ada', 'lunch')
    const stands = { run_id: run.run_id, status: 'interrupted', paused: { by: 'ada', reason: 'lunch' } }
    expect(await pausing).toMatchObject(stands)
    expect(await left).toBeInstanceOf(Error)
    const paused = await retinue.events(run.run_id)
    const about = (type: 'agent.subagent_created' | 'agent.subagent_closed' | 'agent.worktree_merged') =>
      dataOf(paused, type).map(({ sub_agent_id }) => sub_agent_id)
    expect(dataOf(paused, 'plan.step_started').map((begun) => begun.step)).toEqual(['one', 'two'])
    expect(about('agent.subagent_created')).toEqual(['a1', 'a2'])
    expect(about('agent.worktree_merged')).toEqual(['a1', 'a2'])
    expect(about('agent.subagent_closed')).toEqual(['a1', 'a2'])
    expect(tree(cwd)).toEqual({})
    // Somebody goes on with it and leaves it: from then on nobody has paused it.
    const again = retinue.resume(run.run_id)
    again.leave('enough')
    expect(await again.result().catch((error: unknown) => error)).toBeInstanceOf(Error)
    expect((await retinue.find(run.run_id)).paused).toBeUndefined()
    expect(await retinue.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
    expect(endsIn(await retinue.events(run.run_id))).toEqual(['one completed', 'two completed', 'three completed'])
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n', 'two/b.txt': 'x\n', 'three/b.txt': 'x\n' })
    model.assertAllUsed()
  })
})

describe('a store that takes no sub-agent any more', () => {
  it.each(['plan', 'task'])('ends the run: %s', { timeout: 60_000 }, async (how) => {
    const args = [join(ROOT, 'scripts/run.mjs'), join(ROOT, 'test/planning/full-disk.ts'), makeProject({}), how]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 40_000, killSignal: 'SIGKILL' })
    expect(stdout.trim()).toContain('the disk is full')
  })
})
