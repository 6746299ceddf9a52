import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  criticalPath,
  doingOf,
  emptySpans,
  emptyTree,
  growSpans,
  growTree,
  type RunTree,
  type Span,
  type StoredEvent,
} from '../../src/domain/index.js'
import { eventsOfRun } from '../support/tree-events.js'
import { randomRun } from './random-events.js'

const START = 1_000_000

function grown(events: readonly StoredEvent[]) {
  const [tree, spans] = [emptyTree(), emptySpans()]
  for (const event of events) growSpans(spans, growTree(tree, event), event)
  return { tree, spans }
}

/** As `asking_model 10-40`, from the beginning of the run on. */
function spansOf(events: readonly StoredEvent[], id: string): string[] {
  return (grown(events).spans.get(id) ?? []).map(
    ({ kind, from, to }) => `${kind} ${from - START}-${to === null ? '' : to - START}`,
  )
}

function pathOf(events: readonly StoredEvent[], now = 0): string[] {
  const { tree } = grown(events)
  return criticalPath(tree, START + now).map(({ agent_id, from, to }) => `${agent_id} ${from - START}-${to - START}`)
}

/** A run whose clock says what it is told. */
function timed() {
  const run = eventsOfRun(START)
  const at = (ms: number) => run.wait(START + ms - run.now())
  run.root()
  return { run, at }
}

const RESUMED = {
  ...{ owner: 'o', epoch: 2, sandbox: { kind: 'none', reason: '' }, notes: [] },
  ...{ interrupted_request: null, interrupted_calls: [] },
}

describe('what agents did one after the other', () => {
  it('is known of each from its beginning to its end', () => {
    const { run, at } = timed()
    at(10)
    run.ask('root', 'q1')
    at(40)
    run.answer('root', 'q1', 10, 0)
    run.call('root', 'c1', 'spawn_agent', 'Look', { effect: 'delegate' })
    const child = run.create('root', 'a1')
    at(50)
    child.start()
    at(55)
    run.ask('a1', 'q1')
    at(70)
    run.answer('a1', 'q1', 10, 0)
    run.add('a1', 'agent.subagent_waiting_for_merge', { sub_agent_id: 'a1', step_idx: 0, result: RESULT })
    at(75)
    run.add('root', 'agent.gate_started', { sub_agent_id: 'a1', step_idx: 0, gate: 0, kind: 'command', what: 'x' })
    at(90)
    child.close('completed', RESULT)
    run.finish('root', 'c1', 'spawn_agent')
    run.ask('root', 'q2')
    at(95)
    run.answer('root', 'q2', 10, 0)
    run.closeRun()
    expect(spansOf(run.events, 'root')).toEqual([
      ...['thinking 0-10', 'asking_model 10-40', 'waiting_for_agents 40-90', 'asking_model 90-95'],
    ])
    expect(spansOf(run.events, 'a1')).toEqual([
      ...['waiting_for_slot 40-50', 'thinking 50-55', 'asking_model 55-70', 'waiting_for_merge 70-75'],
      'being_checked 75-90',
    ])
  })

  it('goes on where nothing is over yet', () => {
    const { run, at } = timed()
    at(10)
    run.call('root', 'c1', 'read_file', 'a.ts')
    at(20)
    run.call('root', 'c2', 'read_file', 'b.ts')
    run.finish('root', 'c1', 'read_file')
    expect(spansOf(run.events, 'root')).toEqual(['thinking 0-10', 'using_tool 10-'])
  })

  it('does not take the time for work in which the process was gone', () => {
    const { run, at } = timed()
    at(10)
    run.ask('root', 'q1')
    at(500)
    run.add('root', 'agent.resumed', RESUMED)
    at(510)
    run.ask('root', 'q2')
    at(520)
    run.answer('root', 'q2', 10, 0)
    at(530)
    run.call('root', 'c1', 'run_command', 'make')
    at(900)
    run.add('root', 'agent.resumed', RESUMED)
    run.call('root', 'c1', 'run_command', 'make', { attempt: 2 })
    expect(spansOf(run.events, 'root')).toEqual([
      ...['thinking 0-10', 'gone 10-500', 'thinking 500-510', 'asking_model 510-520', 'thinking 520-530'],
      ...['gone 530-900', 'using_tool 900-'],
    ])
  })

  it('is without what took no time, and joins what that parts', () => {
    const { run, at } = timed()
    run.call('root', 'c1', 'read_file', 'a.ts')
    at(10)
    run.finish('root', 'c1', 'read_file')
    run.ask('root', 'q1')
    run.answer('root', 'q1', 1, 0)
    run.call('root', 'c2', 'read_file', 'b.ts')
    at(30)
    run.finish('root', 'c2', 'read_file')
    run.closeRun()
    expect(spansOf(run.events, 'root')).toEqual(['using_tool 0-30'])
  })

  it.each(['forward', 'set_back'] as const)(
    'is what each does after every event, in order, with the clock %s',
    (clock) => {
      fc.assert(
        fc.property(randomRun(clock), (events) => {
          const [tree, spans] = [emptyTree(), emptySpans()]
          for (const event of events) {
            growSpans(spans, growTree(tree, event), event)
            for (const agent of tree.agents.values()) {
              const { kind } = doingOf(agent)
              const last = spans.get(agent.id)?.at(-1)
              const shown = last?.to === null ? last.kind : 'ended'
              if (shown !== kind) throw new Error(`${agent.id} is shown as ${shown}, and is ${kind}`)
            }
          }
          for (const [id, list] of spans) expect(faultsOf(list, tree, id, clock === 'forward')).toEqual([])
        }),
        { numRuns: 100 },
      )
    },
  )

  it.each(['at_once', 'in_a_chain'] as const)('costs next to nothing, of 10,000 events of 1,000 agents %s', (how) => {
    const events = busyRun(1000, how)
    const tree = emptyTree()
    const spans = emptySpans()
    const before = process.cpuUsage()
    for (const event of events) growSpans(spans, growTree(tree, event), event)
    const path = criticalPath(tree, START)
    const { user, system } = process.cpuUsage(before)
    expect([events.length > 10_000, spans.size]).toEqual([true, 1001])
    expect(path.length).toBe(how === 'at_once' ? 1 : 1000)
    expect((user + system) / 1000).toBeLessThan(1000)
  })
})

const RESULT = {
  ...{ outcome: 'completed' as const, cause: null, reason: null, text: '', turns: 1, tool_calls: 0, cost_usd: 0 },
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
  ...{ files_read: [], files_changed: [], duration_ms: 1 },
}

/** What is not as it must be with the spans of one agent. */
function faultsOf(list: readonly Span[], tree: RunTree, id: string, forward: boolean): string[] {
  const agent = tree.agents.get(id)
  const faults: string[] = []
  list.forEach(({ kind, from, to }, index) => {
    const before = list[index - 1]
    if (kind === 'ended') faults.push('ended is nothing that takes time')
    if (to === null && index < list.length - 1) faults.push(`${kind} is open, and not the last`)
    if (to !== null && to <= from) faults.push(`${kind} took no time`)
    if (before && before.to !== from) faults.push(`${kind} does not begin when ${before.kind} was over`)
    if (before?.kind === kind) faults.push(`${kind} is parted`)
  })
  const [first] = list
  // One that did nothing for any time at all has no spans.
  if (forward && first && agent && first.from < agent.created_at) faults.push('it began before it was created')
  return faults
}

/** Below a root that waits for all of them. */
function busyRun(agents: number, how: 'at_once' | 'in_a_chain'): StoredEvent[] {
  const run = eventsOfRun(START)
  run.root()
  run.call('root', 'c1', 'spawn_await', 'all', { effect: 'delegate' })
  const ids = Array.from({ length: agents }, (_, i) => `a${i + 1}`)
  const made = new Map(how === 'at_once' ? ids.map((id) => [id, run.create('root', id)]) : [])
  for (const id of ids) {
    const child = made.get(id) ?? run.create('root', id)
    child.start()
    for (const turn of [1, 2]) {
      run.wait(1)
      run.ask(id, `q${turn}`)
      run.wait(1)
      run.answer(id, `q${turn}`, 10, 0)
    }
    run.call(id, 'c1', 'read_file', 'x')
    run.wait(1)
    run.finish(id, 'c1', 'read_file')
    child.end()
  }
  run.closeRun()
  return run.events
}

describe('whose work the end of a run waited for', () => {
  it('is the slower of two at once, then the one in a chain after them, and below it', () => {
    const { run, at } = timed()
    at(10)
    run.call('root', 'c1', 'spawn_agent', 'both', { effect: 'delegate' })
    const a1 = run.create('root', 'a1')
    const a2 = run.create('root', 'a2')
    a1.start()
    a2.start()
    at(30)
    a1.end()
    at(60)
    a2.end()
    run.finish('root', 'c1', 'spawn_agent')
    run.ask('root', 'q1')
    at(65)
    run.answer('root', 'q1', 10, 0)
    run.call('root', 'c2', 'spawn_agent', 'then', { effect: 'delegate' })
    const a3 = run.create('root', 'a3', { call_id: 'c2' })
    a3.start()
    at(70)
    const below = run.create('a3', 'a3.1')
    below.start()
    at(80)
    below.end()
    at(90)
    a3.end()
    run.finish('root', 'c2', 'spawn_agent')
    at(100)
    run.closeRun()
    expect(pathOf(run.events)).toEqual([
      ...['root 0-10', 'a2 10-60', 'root 60-65', 'a3 65-70', 'a3.1 70-80', 'a3 80-90', 'root 90-100'],
    ])
  })

  it('is not one that ended while its parent did something else', () => {
    const { run, at } = timed()
    at(10)
    const child = run.create('root', 'a1')
    child.start()
    run.ask('root', 'q1')
    at(50)
    child.end()
    at(60)
    run.answer('root', 'q1', 10, 0)
    run.closeRun()
    expect(pathOf(run.events)).toEqual(['root 0-60'])
  })

  it('goes as far as now where the run has not ended, with those that are waited for', () => {
    const { run, at } = timed()
    expect(pathOf([], 5)).toEqual([])
    at(10)
    run.call('root', 'c1', 'spawn_agent', 'both', { effect: 'delegate' })
    run.create('root', 'a1').start()
    at(20)
    run.create('root', 'a2').start()
    expect(pathOf(run.events, 50)).toEqual(['root 0-10', 'a1 10-50'])
    run.call('root', 'c2', 'read_file', 'x')
    expect(pathOf(run.events, 50)).toEqual(['root 0-50'])
  })

  it.each(['forward', 'set_back'] as const)('has all the time of the run, in order, with the clock %s', (clock) => {
    fc.assert(
      fc.property(randomRun(clock), fc.nat(50), (events, later) => {
        const { tree } = grown(events)
        const now = (events.at(-1)?.at ?? 0) + later
        const path = criticalPath(tree, now)
        const begin = tree.root?.created_at ?? 0
        const end = Math.max(begin, tree.root?.closed_at ?? now)
        expect([path[0]?.from ?? begin, path.at(-1)?.to ?? begin]).toEqual([begin, end])
        path.forEach((stretch, index) => {
          const before = path[index - 1]
          expect(stretch.to).toBeGreaterThan(stretch.from)
          if (before) expect([before.to, before.agent_id === stretch.agent_id]).toEqual([stretch.from, false])
          const agent = tree.agents.get(stretch.agent_id)
          expect(stretch.from).toBeGreaterThanOrEqual(agent?.created_at ?? Number.POSITIVE_INFINITY)
          expect(stretch.to).toBeLessThanOrEqual(agent?.closed_at ?? now)
        })
      }),
      { numRuns: 100 },
    )
  })
})
