import fc from 'fast-check'
import type { StoredEvent } from '../../src/domain/index.js'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

/** What is done next, to whom of those it can be done to, and how much time went by before. */
type Move = { what: (typeof MOVES)[number]; whom: number; ms: number }

const MOVES = [
  ...['create', 'create', 'start', 'start', 'ask', 'answer', 'call', 'finish', 'delegate', 'await_all', 'reuse'],
  ...['permit', 'permitted', 'queue', 'tree', 'set_up', 'ready', 'resume', 'again', 'fail_call'],
  ...['end', 'end', 'check', 'checked', 'merge', 'merged', 'close', 'close', 'fail'],
] as const

/** `clock`: whether it is set back now and then. */
export function randomRun(clock: 'forward' | 'set_back' = 'forward'): fc.Arbitrary<StoredEvent[]> {
  const ms = clock === 'forward' ? fc.nat(30) : fc.integer({ min: -20, max: 30 })
  const move = fc.record({ what: fc.constantFrom(...MOVES), whom: fc.nat(1000), ms })
  return fc
    .tuple(fc.array(move, { maxLength: 150, size: 'max' }), fc.boolean())
    .map(([moves, closed]) => play(moves, closed))
}

type Agent = {
  id: string
  parent: Agent | null
  children: Agent[]
  state: 'created' | 'running' | 'ended' | 'failed' | 'closed'
  calls: string[]
  child: ReturnType<ReturnType<typeof eventsOfRun>['create']> | null
}

function play(moves: readonly Move[], closed: boolean): StoredEvent[] {
  const run = eventsOfRun()
  run.root()
  const agents: Agent[] = [{ id: 'root', parent: null, children: [], state: 'running', calls: [], child: null }]
  let made = 0

  const born = (parent: Agent): Agent => {
    const id = `${parent.id === 'root' ? 'a' : `${parent.id}.`}${parent.children.length + 1}`
    const agent: Agent = { id, parent, children: [], state: 'created', calls: [], child: null }
    parent.children.push(agent)
    agents.push(agent)
    return agent
  }
  const called = (agent: Agent, tool: string, effect: 'read' | 'delegate', args = {}) => {
    const call_id = `c${++made}`
    agent.calls.push(call_id)
    run.call(agent.id, call_id, tool, 'x', { effect, args })
  }
  const about = ({ id }: Agent) => ({ sub_agent_id: id, step_idx: 0 })

  function act(what: Move['what'], agent: Agent): void {
    const { id, parent, child, state } = agent
    const below = agent.children.every((one) => one.state === 'closed')
    if (state === 'created' && what === 'start') {
      child?.start()
      agent.state = 'running'
    }
    if (state === 'created' && what === 'fail' && parent) {
      run.add(parent.id, 'agent.subagent_failed', { ...about(agent), result: resultOf({ outcome: 'error' }) })
      agent.state = 'failed'
    }
    if (state === 'ended' && parent) {
      const place = { ...about(agent), gate: 0, kind: 'command' as const, what: 'npm test' }
      const merge = { ...about(agent), before: 'b', after: 'c', kind: 'fast_forward' as const }
      if (what === 'check') run.add(parent.id, 'agent.gate_started', place)
      if (what === 'checked') {
        run.add(parent.id, 'agent.gate_checked', { ...place, passed: true, detail: '', output: null, duration_ms: 1 })
      }
      if (what === 'merge') run.add(parent.id, 'agent.merge_started', merge)
      if (what === 'merged') run.add(parent.id, 'agent.worktree_merged', { ...merge, files: [] })
    }
    if (what === 'close' && (state === 'ended' || state === 'failed')) {
      child?.close(state === 'ended' ? 'completed' : 'failed', resultOf())
      agent.state = 'closed'
    }
    if (state !== 'running') return
    switch (what) {
      case 'create': {
        const one = born(agent)
        one.child = run.create(id, one.id, { call_id: agent.calls.at(-1) ?? 'c0' })
        return
      }
      case 'reuse': {
        const one = born(agent)
        const from = { run_id: 'q', agent_id: 'a1' }
        const data = {
          ...about(one),
          call_id: 'c0',
          index: 0,
          title: 'Again',
          cache_key: 'k',
          from,
          result: resultOf(),
        }
        run.add(id, 'agent.subagent_reused', data)
        one.state = 'closed'
        return
      }
      case 'ask':
        run.ask(id, `q${++made}`)
        return
      case 'answer':
        run.answer(id, 'q', 10, 0.01)
        return
      case 'call':
        called(agent, 'read_file', 'read')
        return
      case 'delegate':
        called(agent, 'spawn', 'delegate')
        return
      case 'await_all':
        called(agent, 'spawn_await', 'delegate', { job_ids: agent.children.map((one) => one.id).join(', ') })
        return
      case 'finish':
      case 'fail_call': {
        const call_id = agent.calls.shift()
        if (call_id) run.finish(id, call_id, 'x', { status: what === 'finish' ? 'ok' : 'error' })
        return
      }
      case 'permit': {
        const call_id = `c${++made}`
        agent.calls.push(call_id)
        run.add(id, 'permission.asked', { call_id, tool: 'write_file', summary: 'x', reason: 'mode' })
        return
      }
      case 'permitted': {
        const call_id = agent.calls.pop()
        const answer = { answer: 'allow' as const, grant: null, by: 'person', note: null }
        if (call_id) run.add(id, 'permission.answered', { call_id, ...answer })
        return
      }
      case 'queue':
        run.add(id, 'agent.workspace_awaited', { behind: ['a1'] })
        return
      case 'tree':
        run.add(id, 'agent.worktree_created', { branch: 'b', path: 'p', base: 'c', included: [], notes: [] })
        return
      case 'set_up':
        run.add(id, 'agent.setup_started', { command: 'npm ci' })
        return
      case 'ready': {
        const done = { command: 'npm ci', passed: true, detail: '', output: null, duration_ms: 1 }
        run.add(id, 'agent.setup_finished', done)
        return
      }
      case 'resume':
        run.add(id, 'agent.resumed', {
          ...{ owner: 'o', epoch: 2, sandbox: { kind: 'none', reason: '' }, notes: [] },
          ...{ interrupted_request: null, interrupted_calls: [] },
        })
        return
      case 'again':
        agent.calls = []
        child?.attempt(2, 'error', 'no luck')
        return
      case 'end':
        if (!parent || !below) return
        run.add(id, 'agent.subagent_waiting_for_merge', { ...about(agent), result: resultOf() })
        agent.state = 'ended'
        return
      default:
        return
    }
  }

  for (const { what, whom, ms } of moves) {
    run.wait(ms)
    const able = agents.filter(({ state }) => state !== 'closed')
    act(what, able[whom % able.length] as Agent)
  }
  if (closed) {
    for (const agent of [...agents].reverse()) {
      run.wait(1)
      if (agent.parent && agent.state !== 'closed') agent.child?.close('completed', resultOf())
    }
    run.closeRun()
  }
  return run.events
}
