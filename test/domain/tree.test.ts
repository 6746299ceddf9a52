import { describe, expect, it } from 'vitest'
import {
  type Doing,
  doingOf,
  emptyTree,
  growTree,
  type StoredEvent,
  standingOf,
  type TreeAgent,
  timeAtWork,
  totalsOf,
} from '../../src/domain/index.js'
import { eventsOfRun, landingOf, receiptOf, resultOf } from '../support/tree-events.js'

const grown = (events: StoredEvent[]) => events.reduce(growTree, emptyTree())
const agentIn = (events: StoredEvent[], id: string) => grown(events).agents.get(id) as TreeAgent
const TREE = { branch: 'retinue/r/a2', path: '.retinue/worktrees/r/a2', base: 'b', included: [], notes: [] }
const RESUMED = {
  ...{ owner: 'o', epoch: 2, interrupted_request: null, interrupted_calls: [] as string[], notes: [] as string[] },
  sandbox: { kind: 'none', reason: '' },
}
const doing = (events: StoredEvent[], id = 'root'): Doing => doingOf(agentIn(events, id))

describe('the tree of a run', () => {
  it('has the root and every sub-agent where it belongs, with who and what it is', () => {
    const run = eventsOfRun()
    run.root()
    const adjustments = [{ field: 'mode', asked: 'auto', given: 'normal', reason: 'the parent is in normal mode' }]
    run.create('root', 'a1', { title: 'Look', profile: 'researcher', adjustments }).start()
    run.create('a1', 'a1.1').start()
    run.create('root', 'a2')
    const tree = grown(run.events)
    expect(tree).toMatchObject({ run_id: 'r', task: 'Mend the roof', position: run.events.length })
    expect([...tree.agents.values()].map(({ id, parent_id, depth, state }) => [id, parent_id, depth, state])).toEqual([
      ['root', null, 0, 'running'],
      ['a1', 'root', 1, 'running'],
      ['a1.1', 'a1', 2, 'running'],
      ['a2', 'root', 1, 'created'],
    ])
    expect(tree.root?.children.map(({ id }) => id)).toEqual(['a1', 'a2'])
    expect(tree.agents.get('a1')).toMatchObject({
      ...{ title: 'Look', profile: 'researcher', model: 'p/m', mode: 'auto', adjustments, attempt: 1 },
    })
  })

  it('goes with a sub-agent from created to closed, and completed only then', () => {
    const run = eventsOfRun()
    run.root()
    const states: unknown[] = []
    const look = () => {
      const { state, outcome, final_status } = agentIn(run.events, 'a1')
      states.push([state, outcome, final_status, standingOf(agentIn(run.events, 'a1'))])
    }
    const child = run.create('root', 'a1')
    look()
    child.start()
    look()
    const result = resultOf({ outcome: 'budget_exceeded', reason: 'no calls left' })
    run.add('a1', 'agent.subagent_waiting_for_merge', { sub_agent_id: 'a1', step_idx: 0, result })
    look()
    child.close('failed', resultOf({ outcome: 'gate_failed', reason: 'npm test failed' }))
    look()
    expect(states).toEqual([
      ['created', null, null, 'waiting'],
      ['running', null, null, 'at_work'],
      ['waiting_for_merge', 'budget_exceeded', null, 'at_work'],
      ['closed', 'gate_failed', 'failed', 'failed'],
    ])
    expect(agentIn(run.events, 'a1').reason).toBe('npm test failed')
  })

  it('does not take what a budget cut short for completed', () => {
    const run = eventsOfRun()
    run.root()
    const cut = { outcome: 'budget_exceeded', reason: 'no calls left' } as const
    run.create('root', 'a1').close('completed', resultOf(cut))
    run.create('root', 'a2').close('failed', resultOf(cut))
    run.create('root', 'a3').end()
    run.closeRun('budget_exceeded')
    expect(['a1', 'a2', 'a3', 'root'].map((id) => standingOf(agentIn(run.events, id)))).toEqual([
      ...['incomplete', 'failed', 'completed', 'incomplete'],
    ])
    expect(totalsOf(grown(run.events))).toMatchObject({ sub_agents: 3, completed: 1, incomplete: 1, failed: 1 })
  })

  it('knows a sub-agent that never started from its parent', () => {
    const run = eventsOfRun()
    run.root()
    const child = run.create('root', 'a1')
    const result = resultOf({ outcome: 'error', reason: 'no worktree' })
    run.add('root', 'agent.subagent_failed', { sub_agent_id: 'a1', step_idx: 0, result })
    expect(agentIn(run.events, 'a1')).toMatchObject({ state: 'failed', started_at: null, reason: 'no worktree' })
    expect(agentIn(run.events, 'root').state).toBe('running')
    child.close('failed', result)
    expect(totalsOf(grown(run.events))).toMatchObject({ sub_agents: 1, failed: 1 })
  })

  it('shows an earlier result that is used again as closed, with nothing spent', () => {
    const run = eventsOfRun()
    run.root()
    const from = { run_id: 'q', agent_id: 'a7' }
    run.add('root', 'agent.subagent_reused', {
      ...{ sub_agent_id: 'a1', step_idx: 0, call_id: 'c1', index: 0, title: 'Look', cache_key: 'k', from },
      result: resultOf({ tool_calls: 5 }),
    })
    expect(agentIn(run.events, 'a1')).toMatchObject({
      ...{ state: 'closed', final_status: 'completed', reused_from: from, title: 'Look' },
      own: { tool_calls: 0, tokens: 0 },
    })
  })

  it('counts what each agent spent, and with all below it', () => {
    const run = eventsOfRun()
    run.root()
    run.ask('root', 'q1')
    run.answer('root', 'q1', 100, 0.5)
    run.create('root', 'a1').start()
    run.create('a1', 'a1.1').start()
    run.ask('a1.1', 'q1')
    run.answer('a1.1', 'q1', 30, 0.25)
    run.call('a1.1', 'c1', 'read_file', 'x')
    run.call('a1.1', 'c1', 'read_file', 'x', { attempt: 2 })
    run.add('a1', 'tool.refused', {
      ...{ call_id: 'c9', tool: 'spawn', summary: 's', code: 'denied', rule: null, content: 'not yours' },
    })
    const tree = grown(run.events)
    const figures = (id: string) => [tree.agents.get(id)?.own, tree.agents.get(id)?.all]
    expect(figures('a1.1')[0]).toEqual({ turns: 1, tool_calls: 1, refusals: 0, tokens: 30, cost_usd: 0.25 })
    expect(figures('a1')).toEqual([
      { turns: 0, tool_calls: 0, refusals: 1, tokens: 0, cost_usd: 0 },
      { turns: 1, tool_calls: 1, refusals: 1, tokens: 30, cost_usd: 0.25 },
    ])
    expect(figures('root')).toEqual([
      { turns: 1, tool_calls: 0, refusals: 0, tokens: 100, cost_usd: 0.5 },
      { turns: 2, tool_calls: 1, refusals: 1, tokens: 130, cost_usd: 0.75 },
    ])
    expect(tree.agents.get('a1')?.trouble).toMatchObject({ kind: 'refusal', text: 'spawn: not yours' })
    expect(totalsOf(tree).figures).toEqual(tree.root?.all)
  })

  it('does not know a cost when the price of one call is not known, here or below', () => {
    const run = eventsOfRun()
    run.root()
    run.create('root', 'a1').start()
    run.create('root', 'a2').start()
    run.answer('a1', 'q1', 10, null)
    run.answer('a1', 'q2', 10, 1)
    run.answer('a2', 'q1', 10, 1)
    const tree = grown(run.events)
    expect(['root', 'a1', 'a2'].map((id) => tree.agents.get(id)?.all.cost_usd)).toEqual([null, null, 1])
    expect(tree.root?.own.cost_usd).toBe(0)
  })

  it('counts what an interrupted request may have cost', () => {
    const run = eventsOfRun()
    run.root()
    run.ask('root', 'q1', { estimated_usd: 0.1 })
    const sandbox = { kind: 'bubblewrap', reason: '' }
    run.add('root', 'agent.resumed', {
      ...{ owner: 'o', epoch: 2, sandbox, notes: [], interrupted_request: 'q1', interrupted_calls: [] },
    })
    expect(agentIn(run.events, 'root').own.cost_usd).toBe(0.1)
    expect(doing(run.events)).toEqual({ kind: 'thinking' })
  })

  it('counts time at work, not while the process was gone or a person was waited for', () => {
    const run = eventsOfRun()
    run.root()
    run.wait(1000)
    run.add('root', 'permission.asked', { call_id: 'c1', tool: 'write_file', summary: 'x', reason: 'mode' })
    run.wait(60_000)
    expect(timeAtWork(agentIn(run.events, 'root'), run.now())).toBe(1000)
    run.add('root', 'permission.answered', { call_id: 'c1', answer: 'allow', grant: null, by: 'person', note: null })
    run.wait(500)
    run.ask('root', 'q1')
    run.wait(3_600_000)
    const sandbox = { kind: 'bubblewrap', reason: '' }
    run.add('root', 'agent.resumed', {
      ...{ owner: 'o', epoch: 2, sandbox, notes: [], interrupted_request: null, interrupted_calls: [] },
    })
    run.wait(200)
    expect(timeAtWork(agentIn(run.events, 'root'), run.now())).toBe(1700)
    run.closeRun()
    run.wait(9000)
    expect(timeAtWork(agentIn(run.events, 'root'), run.now())).toBe(1700)
    expect(grown(run.events)).toMatchObject({ outcome: 'completed', root: { state: 'closed' } })
  })
})

describe('what an agent does', () => {
  const begun = () => {
    const run = eventsOfRun()
    run.root()
    return run
  }

  it('asks the model, uses tools, waits for a person, tries again', () => {
    const run = begun()
    expect(doing(run.events)).toEqual({ kind: 'thinking' })
    run.ask('root', 'q1')
    expect(doing(run.events)).toEqual({ kind: 'asking_model', purpose: 'turn', attempt: 1, since: run.now() })
    run.add('root', 'model.failed', {
      ...{ request_id: 'q1', code: 'rate_limited', message: 'slow down', retry_after_ms: 2000, spent_tokens: 0 },
      ...{ spent_usd: 0, duration_ms: 1 },
    })
    expect(doing(run.events)).toEqual({ kind: 'retrying', code: 'rate_limited', not_before: run.now() + 2000 })
    expect(agentIn(run.events, 'root').trouble?.text).toBe('rate_limited: slow down')
    run.ask('root', 'q2')
    run.answer('root', 'q2', 10, 0)
    run.call('root', 'c1', 'read_file', 'a.ts')
    run.call('root', 'c2', 'read_file', 'b.ts')
    expect(doing(run.events)).toMatchObject({ kind: 'using_tool', tool: 'read_file', summary: 'a.ts', others: 1 })
    run.finish('root', 'c1', 'read_file')
    expect(doing(run.events)).toMatchObject({ kind: 'using_tool', summary: 'b.ts', others: 0 })
    run.add('root', 'permission.asked', { call_id: 'c3', tool: 'write_file', summary: 'c.ts', reason: 'mode' })
    expect(doing(run.events)).toMatchObject({ kind: 'waiting_for_person', tool: 'write_file', summary: 'c.ts' })
    run.add('root', 'permission.answered', { call_id: 'c3', answer: 'deny', grant: null, by: 'person', note: null })
    run.finish('root', 'c2', 'read_file')
    expect(doing(run.events)).toEqual({ kind: 'thinking' })
    run.call('root', 'c4', 'ask_user', 'which?', { effect: 'ask_person' })
    expect(doing(run.events)).toMatchObject({ kind: 'waiting_for_person', summary: 'which?' })
  })

  it('waits for a slot, then for those that its calls are about', () => {
    const run = begun()
    run.call('root', 'c1', 'delegate_task', 'one', { effect: 'delegate' })
    expect(doing(run.events)).toMatchObject({ kind: 'using_tool', tool: 'delegate_task' })
    const children = ['a1', 'a2', 'a3'].map((id, i) => run.create('root', id, { call_id: i < 2 ? 'c1' : 'c0' }))
    expect(doing(run.events, 'a1')).toEqual({ kind: 'waiting_for_slot', label: null })
    for (const child of children) child.start()
    expect(doing(run.events)).toEqual({ kind: 'waiting_for_agents', ids: ['a1', 'a2'] })
    children[0]?.end()
    expect(doing(run.events)).toEqual({ kind: 'waiting_for_agents', ids: ['a2'] })
    run.finish('root', 'c1', 'delegate_task')
    run.call('root', 'c5', 'spawn_await', 'a3', { effect: 'delegate', args: { job_ids: 'a1, a3' } })
    expect(doing(run.events)).toEqual({ kind: 'waiting_for_agents', ids: ['a3'] })
    run.finish('root', 'c5', 'spawn_await')
    run.call('root', 'c6', 'spawn_await', 'all', { effect: 'delegate', args: { job_ids: '*' } })
    expect(doing(run.events)).toEqual({ kind: 'waiting_for_agents', ids: ['a2', 'a3'] })
    run.finish('root', 'c6', 'spawn_await')
    // It has answered, and its children are still open.
    expect(doing(run.events)).toEqual({ kind: 'waiting_for_agents', ids: ['a2', 'a3'] })
    run.ask('root', 'q1')
    expect(doing(run.events)).toMatchObject({ kind: 'asking_model' })
  })

  it('is checked by its parent, and starts anew with each attempt', () => {
    const run = begun()
    const child = run.create('root', 'a1')
    child.start()
    run.call('a1', 'c1', 'run_command', 'sleep 100')
    child.attempt(2, 'timeout', 'no time left')
    expect(doing(run.events, 'a1')).toEqual({ kind: 'thinking' })
    const again = agentIn(run.events, 'a1')
    expect([again.attempt, again.trouble?.text]).toEqual([2, 'timeout: no time left'])
    run.add('a1', 'agent.subagent_waiting_for_merge', { sub_agent_id: 'a1', step_idx: 0, result: resultOf() })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'waiting_for_merge' })
    const gate = { sub_agent_id: 'a1', step_idx: 0, gate: 0, kind: 'command' as const, what: 'npm test' }
    run.add('root', 'agent.gate_started', gate)
    expect(doing(run.events, 'a1')).toEqual({ kind: 'being_checked', what: 'npm test', after_merge: false })
    run.add('root', 'agent.gate_checked', { ...gate, passed: false, detail: '', output: null, duration_ms: 1 })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'waiting_for_merge' })
    expect(agentIn(run.events, 'a1').trouble?.text).toBe('check failed: npm test')
    child.close('failed', resultOf({ outcome: 'gate_failed' }))
    expect(doing(run.events, 'a1')).toEqual({ kind: 'ended' })
  })

  it('waits for its turn to write, which is no time at work, and has a tree of its own then', () => {
    const run = begun()
    run.create('root', 'a1').start()
    run.create('root', 'a2').start()
    run.wait(1000)
    run.add('a2', 'agent.workspace_awaited', { behind: ['a1'] })
    expect(doing(run.events, 'a2')).toEqual({ kind: 'waiting_to_write', behind: ['a1'] })
    run.wait(60_000)
    expect(timeAtWork(agentIn(run.events, 'a2'), run.now())).toBe(1000)
    // Another call of the same turn may end meanwhile.
    run.call('a2', 'c1', 'read_file', 'x')
    run.wait(60_000)
    run.finish('a2', 'c1', 'read_file')
    expect(doing(run.events, 'a2')).toMatchObject({ kind: 'waiting_to_write' })
    run.add('a2', 'agent.worktree_created', TREE)
    expect(doing(run.events, 'a2')).toEqual({ kind: 'thinking' })
    run.wait(500)
    const { worktree, behind } = agentIn(run.events, 'a2')
    expect({ worktree, behind }).toEqual({
      worktree: { branch: TREE.branch, path: TREE.path, base: TREE.base },
      behind: null,
    })
    expect(timeAtWork(agentIn(run.events, 'a2'), run.now())).toBe(1500)
  })

  it.each([
    ['its tree cannot be made', { type: 'agent.worktree_failed', data: { message: 'the disk is full' } }],
    ['its process comes back', { type: 'agent.resumed', data: RESUMED }],
  ] as const)('waits for its turn no more when %s', (_, { type, data }) => {
    const run = begun()
    run.create('root', 'a1').start()
    run.add('a1', 'agent.workspace_awaited', { behind: ['a0'] })
    run.add('a1', type, data)
    expect(doing(run.events, 'a1')).toEqual({ kind: 'thinking' })
  })

  it('is merged and checked again, and what is not integrated is kept', () => {
    const run = begun()
    const a1 = run.create('root', 'a1')
    a1.start()
    run.add('a1', 'agent.subagent_waiting_for_merge', { sub_agent_id: 'a1', step_idx: 0, result: resultOf() })
    const merge = { sub_agent_id: 'a1', step_idx: 0, before: 'b', after: 'c' }
    run.add('root', 'agent.merge_started', { ...merge, kind: 'merge' })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'being_merged' })
    const gate = { sub_agent_id: 'a1', step_idx: 0, gate: 0, kind: 'command', what: 'npm test' } as const
    run.add('root', 'agent.gate_started', { ...gate, after_merge: true })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'being_checked', what: 'npm test', after_merge: true })
    run.add('root', 'agent.gate_checked', {
      ...{ ...gate, after_merge: true, passed: false, detail: '', output: null, duration_ms: 1 },
    })
    run.add('root', 'agent.merge_taken_back', { ...merge, reason: 'npm test failed' })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'waiting_for_merge' })
    expect(agentIn(run.events, 'a1').trouble?.text).toBe('merge taken back: npm test failed')
    const kept = { branch: TREE.branch, path: TREE.path }
    a1.close('failed', resultOf({ outcome: 'gate_failed', receipt: receiptOf({ kept }) }))
    expect(agentIn(run.events, 'a1')).toMatchObject({ kept_on: TREE.branch, merging: false })
  })

  it('has nothing more to be merged once that is done', () => {
    const run = begun()
    run.create('root', 'a1').start()
    run.add('a1', 'agent.subagent_waiting_for_merge', { sub_agent_id: 'a1', step_idx: 0, result: resultOf() })
    const merge = { sub_agent_id: 'a1', step_idx: 0, before: 'b', after: 'c', kind: 'merge' } as const
    run.add('root', 'agent.merge_started', merge)
    run.add('root', 'agent.worktree_merged', { ...merge, files: [] })
    expect(doing(run.events, 'a1')).toEqual({ kind: 'waiting_for_merge' })
  })

  it('brings the result of the run into the folder', () => {
    const run = begun()
    run.add('root', 'run.landing', { base: 'b', commit: 'c', into: 'changes' })
    expect(doing(run.events)).toEqual({ kind: 'landing' })
    run.add('root', 'run.landed', landingOf())
    expect(doing(run.events)).toEqual({ kind: 'thinking' })
  })
})

it('grows by 100,000 events in well under a second', () => {
  const run = eventsOfRun()
  run.root()
  const children = Array.from({ length: 1000 }, (_, i) => run.create('root', `a${i + 1}`))
  for (const child of children) child.start()
  for (let i = 0; run.events.length < 100_000; i++) {
    const id = `a${(i % 1000) + 1}`
    run.ask(id, `q${i}`)
    run.answer(id, `q${i}`, 100, 0.001)
    run.call(id, `c${i}`, 'read_file', 'x')
    run.finish(id, `c${i}`, 'read_file')
  }
  const before = process.cpuUsage()
  const tree = grown(run.events)
  const { user, system } = process.cpuUsage(before)
  expect(tree.agents.size).toBe(1001)
  expect((user + system) / 1000).toBeLessThan(2000)
})
