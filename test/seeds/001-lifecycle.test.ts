import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Contract, contractSchema, createHost, type Store, type StoredEvent, summarize } from '../../src/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { askDatabase, ON_WORKERS } from '../support/stores.js'
import { eventsAbout, family, gate, requestsOf, retinueIn, subAgents, toldTo, withoutRests } from './family.js'

const DONE = { text: 'Done.' }
const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }

/** Tests that take their time, side by side where they can be. */
const beside = ON_WORKERS ? it : it.concurrent

/** Who wrote what, in the order of the run. */
function written(events: readonly StoredEvent[]): string[] {
  return events.map(({ agent_id, type }) => `${agent_id} ${type}`)
}

/** What became of a sub-agent, and in whose stream it says so. */
function lifeOf(events: readonly StoredEvent[], id: string): string[] {
  return written(eventsAbout(events, id)).map((line) => line.replace('agent.subagent_', ''))
}

async function stateOf(cwd: string, id: string): Promise<string | undefined> {
  return (await subAgents(cwd)).find(({ agent_id }) => agent_id === id)?.state
}

async function contractOf(cwd: string, id: string): Promise<Contract> {
  return JSON.parse((await subAgents(cwd)).find(({ agent_id }) => agent_id === id)?.context_json ?? 'null')
}

describe('seed 001, contract, lifecycle and events', () => {
  it('B1: the contract is in sub_agents.context_json, whole, and says the same as the log', async () => {
    const { retinue, cwd } = await family(
      {
        root: [
          {
            calls: [
              {
                spawn: {
                  task: 'Write the page\nabout boats',
                  tools: 'read_file, write_file',
                  owns: ['docs/**'],
                  checks: ['test -d docs'],
                },
              },
            ],
          },
          AWAIT,
          DONE,
        ],
        a1: [DONE],
      },
      { settings: { mode: 'dangerous' }, files: { 'docs/a.md': 'a\n' } },
    )
    const { result, events } = await runToEnd(retinue, { task: 'Make the site' })
    const contract = await contractOf(cwd, 'a1')
    expect(contract).toEqual({
      version: 1,
      parent: {
        run_id: result.run_id,
        agent_id: 'root',
        depth: 1,
        step_idx: 0,
        task_prompt: 'Make the site',
        goal_summary: 'Make the site',
      },
      agent: { handle: null, profile_id: null, profile_digest: null, prompt_digest: expect.any(String) },
      step: {
        title: 'Write the page',
        description: 'Write the page\nabout boats',
        success_criteria: [],
        checks: [{ kind: 'command', command: 'test -d docs' }],
      },
      permissions: {
        mode: 'dangerous',
        allowed_tools: ['read_file', 'write_file'],
        allowed_skills: [],
        allowed_mcp_servers: [],
        read_paths: [['**']],
        write_paths: [['**'], ['docs/**']],
        rules: [{ mode: 'dangerous', rules: [] }],
        network: 'all',
        can_ask_person: false,
        unasked: 'dangerous',
        can_spawn_children: false,
        max_delegation_depth: 1,
      },
      model: { provider: 'scripted', model: 'test', source: 'inherited', allowed: ['scripted/test'] },
      execution: {
        attempt_timeout_ms: 60_000,
        max_retries: 1,
        close_on_completion: true,
        budget: {
          tool_calls: 15,
          turns: 17,
          context_tokens: 8192,
          wall_ms: 60_000,
          total_tokens: 8 * 8192,
          cost_usd: null,
          sub_agents: 0,
        },
      },
      workspace: { isolation: 'worktree', base: null, owns: ['docs/**'] },
      outputs: {
        report_format: 'markdown',
        report_path_pattern: '.retinue/reports/<run>/<agent>-step-<idx>-result.md',
      },
      adjustments: [],
    })
    expect(contractSchema.parse(contract)).toEqual(contract)
    expect(dataOf(events, 'agent.subagent_created').map((data) => data.contract)).toEqual([contract])
    expect(dataOf(events, 'agent.subagent_started').map((data) => data.contract)).toEqual([contract])
    expect((await retinue.agents(result.run_id)).map(({ agent_id }) => agent_id)).toEqual(['root', 'a1'])
  })

  it('B2: what a sub-agent is bound by it cannot change, and its tools are those of its contract', async () => {
    const { retinue, cwd, model } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Try it', profile: 'writer' } }] }, DONE],
        a1: [
          {
            calls: [
              { run_command: { command: 'echo x > made.txt' } },
              { bash: { command: 'echo x > made.txt' } },
              { read_file: { path: 'a.txt' } },
              { ask_user: { question: 'May I?' } },
              { no_such_tool: {} },
              { write_file: { path: '.retinue/retinue.db', content: 'x' } },
              { write_file: { path: '../made.txt', content: 'x' } },
              { write_file: { path: 'mine.txt', content: 'x\n' } },
            ],
          },
          { text: 'I could write one file.' },
        ],
      },
      {
        files: { 'a.txt': 'a\n' },
        settings: { mode: 'auto', delegation: { profiles: { writer: { tools: ['write_file'] } } } },
      },
    )
    const run = retinue.run({ task: 'Do it' })
    let before: Contract | null = null
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === 'agent.subagent_started') before = await contractOf(cwd, 'a1')
    }
    await run.result()
    expect(before).not.toBeNull()
    expect(await contractOf(cwd, 'a1')).toEqual(before)
    expect((await requestsOf(retinue, run.run_id, 'a1'))[0]?.tools.map(({ name }) => name)).toEqual(['write_file'])
    const refused = events.filter((event) => event.type === 'tool.refused')
    expect(refused.map(({ agent_id, data }) => [agent_id, data.tool, data.code])).toEqual([
      ['a1', 'run_command', 'denied'],
      ['a1', 'run_command', 'denied'],
      ['a1', 'read_file', 'denied'],
      ['a1', 'ask_user', 'denied'],
      ['a1', 'no_such_tool', 'unknown_tool'],
      ['a1', 'write_file', 'denied'],
      ['a1', 'write_file', expect.stringMatching(/denied|invalid_arguments/)],
    ])
    const called = dataOf(withoutRests(events), 'tool.called')
    expect(called.map(({ tool, paths }) => [tool, paths.map(({ path }) => path)])).toEqual([
      ['spawn_agent', []],
      ['write_file', ['mine.txt']],
    ])
    expect(dataOf(events, 'agent.subagent_closed')[0]?.result.files_changed).toEqual(['mine.txt'])
    expect(existsSync(join(cwd, 'made.txt')) || existsSync(join(cwd, '..', 'made.txt'))).toBe(false)
    model.assertAllUsed()
  })

  it('B2: delegation is off by default; where it is on, it is limited in depth and in the log', async () => {
    const { retinue, cwd, model } = await family(
      {
        root: [{ calls: [{ spawn: { task: 'Alone' } }, { spawn: { task: 'Lead', profile: 'lead' } }] }, AWAIT, DONE],
        a1: [{ text: 'Alone.' }],
        a2: [{ calls: [{ spawn_agent: { task: 'Follow', profile: 'lead' } }] }, { text: 'Led.' }],
        'a2.1': [{ text: 'Followed.' }],
      },
      { settings: { delegation: { profiles: { lead: { can_spawn_children: true } } } } },
    )
    const { events } = await runToEnd(retinue)
    const limits = async (id: string) => {
      const { permissions, parent, execution, adjustments } = await contractOf(cwd, id)
      const { can_spawn_children, max_delegation_depth } = permissions
      const { sub_agents } = execution.budget
      return {
        parent: parent.agent_id,
        depth: parent.depth,
        can_spawn_children,
        max_delegation_depth,
        sub_agents,
        adjustments,
      }
    }
    expect(await limits('a1')).toMatchObject({ parent: 'root', depth: 1, can_spawn_children: false, sub_agents: 0 })
    expect(await limits('a2')).toMatchObject({
      parent: 'root',
      depth: 1,
      can_spawn_children: true,
      max_delegation_depth: 1,
    })
    expect((await limits('a2')).sub_agents).toBeGreaterThan(0)
    expect(await limits('a2.1')).toEqual({
      parent: 'a2',
      depth: 2,
      can_spawn_children: false,
      max_delegation_depth: 0,
      sub_agents: 0,
      adjustments: [
        {
          field: 'permissions.can_spawn_children',
          asked: 'true',
          given: 'false',
          reason: 'Maximum sub-agent depth (2) exceeded',
        },
      ],
    })
    // Who delegated to whom is in the stream of whoever did.
    expect(lifeOf(events, 'a2.1')).toEqual([
      'a2 created',
      'a2.1 started',
      'a2.1 attempt',
      'a2.1 waiting_for_merge',
      'a2 closed',
    ])
    model.assertAllUsed()
  })

  it('B3: created, running, waiting_for_merge and closed are what the database says when they are so', async () => {
    const answer = gate()
    const { retinue, cwd } = await family(
      {
        root: [
          {
            calls: [
              { spawn: { task: 'One', checks: ['until [ -e go ]; do sleep 0.05; done'] } },
              { spawn: { task: 'Two' } },
            ],
          },
          AWAIT,
          DONE,
        ],
        a1: [{ text: 'One.' }],
        a2: [{ text: 'Two.' }],
      },
      {
        settings: { mode: 'dangerous', max_concurrent: 1 },
        hold: ({ agent_id }) => (agent_id === 'a1' ? answer.opened : undefined),
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const seen: [string, string | undefined, string | undefined][] = []
    const events: StoredEvent[] = []
    const look = async (at: string) => seen.push([at, await stateOf(cwd, 'a1'), await stateOf(cwd, 'a2')])
    for await (const event of run) {
      events.push(event)
      if (event.type === 'model.requested' && event.agent_id === 'a1') {
        // There is one place, and it is taken.
        await look('a1 asks its model')
        answer.open()
      }
      const ready =
        lifeOf(events, 'a2').includes('a2 waiting_for_merge') && dataOf(events, 'agent.gate_started').length > 0
      if (ready && seen.length === 1) {
        // They are joined one at a time, so the second waits for the gate of the first.
        await look('a1 at its gate, a2 behind it')
        writeFileSync(join(cwd, 'go'), '')
      }
    }
    await look('the run closed')
    expect(seen).toEqual([
      ['a1 asks its model', 'running', 'created'],
      ['a1 at its gate, a2 behind it', 'waiting_for_merge', 'waiting_for_merge'],
      ['the run closed', 'closed', 'closed'],
    ])
    expect(lifeOf(events, 'a1')).toEqual([
      'root created',
      'a1 started',
      'a1 attempt',
      'a1 waiting_for_merge',
      'root agent.gate_started',
      'root agent.gate_checked',
      'root closed',
    ])
  })

  it('B3: one that never started is failed and closed by its parent, and has no stream of its own', async () => {
    const answer = gate()
    const { retinue, cwd, model } = await family(
      {
        root: [{ calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] }, AWAIT, DONE],
        a1: [{ text: 'One.' }],
      },
      {
        settings: { max_concurrent: 1 },
        hold: ({ agent_id }) => (agent_id === 'a1' ? answer.opened : undefined),
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const events: StoredEvent[] = []
    let cancelled: Promise<unknown> = Promise.resolve()
    for await (const event of run) {
      events.push(event)
      if (event.type === 'model.requested' && event.agent_id === 'a1') {
        cancelled = retinue.cancelAgent(run.run_id, 'a2', 'somebody', 'not needed')
        // On a worker its parent needs a place to close it, and the first has the only one.
        if (ON_WORKERS) {
          await expect.poll(() => retinue.store.signals({ run_id: run.run_id, after: 0 })).toHaveLength(1)
          answer.open()
        }
      }
      if (event.type === 'agent.subagent_closed' && event.data.sub_agent_id === 'a2') answer.open()
    }
    expect(await cancelled).toMatchObject({ outcome: 'cancelled' })
    expect(await run.result()).toMatchObject({ outcome: 'completed' })
    expect(lifeOf(events, 'a2')).toEqual(['root created', 'root failed', 'root closed'])
    expect(events.filter(({ agent_id }) => agent_id === 'a2')).toEqual([])
    const reason = 'cancelled by somebody: not needed'
    expect(dataOf(events, 'agent.subagent_failed')).toMatchObject([
      { sub_agent_id: 'a2', step_idx: 1, result: { outcome: 'cancelled', reason, turns: 0, tool_calls: 0 } },
    ])
    expect(dataOf(events, 'agent.subagent_closed').find(({ sub_agent_id }) => sub_agent_id === 'a2')).toMatchObject({
      final_status: 'failed',
      close_reason: reason,
      used: { total_tokens: 0, cost_usd: 0, sub_agents: 0 },
    })
    expect((await subAgents(cwd))[2]).toMatchObject({ agent_id: 'a2', state: 'closed', outcome: 'cancelled' })
    const told = (await toldTo(retinue, run.run_id)).at(-1)?.content
    expect(told).toMatch(/^\[a1: OK\]\nOne\.\n.*\n\n\[a2: ERROR\]\ncancelled: cancelled by somebody: not needed\n/)
    model.assertAllUsed()
  })

  it('B4: the parent watches attempts, closes what is done, and alone says what the run came to', async () => {
    const looked = gate()
    let asked = 0
    const { retinue, cwd, model } = await family(
      {
        root: [
          {
            calls: [
              { spawn: { task: 'Once' } },
              { spawn: { task: 'Never', profile: 'patient' } },
              { spawn: { task: 'Wrong' } },
            ],
          },
          AWAIT,
          { text: 'One of three.' },
        ],
        'a1#1': [{ fail: { code: 'overloaded', message: 'busy' } }],
        'a1#2': [{ text: 'At the second attempt.' }],
        a2: [{ fail: { code: 'network', message: 'the line is dead' } }],
        // Nothing that another attempt would mend.
        a3: [{ fail: { code: 'auth', message: 'the key was refused' } }],
      },
      {
        settings: { max_attempts: 1, delegation: { profiles: { patient: { max_retries: 2 } } } },
        // Its last word waits until somebody has looked.
        hold: ({ agent_id }) => {
          asked += agent_id === 'root' ? 1 : 0
          return agent_id === 'root' && asked === 3 ? looked.opened : undefined
        },
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === 'agent.subagent_closed') {
        expect(await retinue.find(run.run_id)).toMatchObject({ status: 'running', outcome: null })
      }
      if (dataOf(events, 'agent.subagent_closed').length === 3) looked.open()
    }
    const attempts = (id: string) =>
      dataOf(events, 'agent.subagent_attempt')
        .filter(({ sub_agent_id }) => sub_agent_id === id)
        .map(({ attempt, after }) => [attempt, after])
    expect(attempts('a1')).toEqual([
      [1, null],
      [2, { outcome: 'error', reason: 'busy' }],
    ])
    const dead = { outcome: 'error', reason: 'the line is dead' }
    expect(attempts('a2')).toEqual([
      [1, null],
      [2, dead],
      [3, dead],
    ])
    expect(attempts('a3')).toEqual([[1, null]])
    expect(lifeOf(events, 'a2')).toEqual([
      'root created',
      'a2 started',
      'a2 attempt',
      'a2 attempt',
      'a2 attempt',
      'a2 failed',
      'root closed',
    ])
    // An attempt begins the conversation anew.
    const requests = await requestsOf(retinue, run.run_id, 'a1')
    expect(requests.map(({ messages }) => messages)).toEqual(Array(2).fill([{ role: 'user', content: 'Once' }]))

    const closed = dataOf(events, 'agent.subagent_closed')
    expect(closed.map(({ sub_agent_id, final_status }) => [sub_agent_id, final_status]).sort()).toEqual([
      ['a1', 'completed'],
      ['a2', 'failed'],
      ['a3', 'failed'],
    ])
    const decisive = ['agent.subagent_closed', 'agent.finished', 'run.closed']
    const deciding = events.filter(({ type }) => decisive.includes(type))
    expect(new Set(deciding.map(({ agent_id }) => agent_id))).toEqual(new Set(['root']))
    expect(deciding.map(({ type }) => type)).toEqual([...Array(3).fill('agent.subagent_closed'), ...decisive.slice(1)])
    // Two of three failed; what that means for the run is for the parent to say.
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'One of three.' })
    expect((await subAgents(cwd)).map(({ state, outcome }) => [state, outcome])).toEqual([
      ['closed', 'completed'],
      ['closed', 'completed'],
      ['closed', 'error'],
      ['closed', 'error'],
    ])
    model.assertAllUsed()
  })

  it('B4: a parent that breaks down lets go of its sub-agents, which go on when it is resumed', async () => {
    let full = false
    const fill = (store: Store) => {
      const append = store.append.bind(store)
      store.append = (batch) =>
        full && batch.agent_id === 'root' ? Promise.reject(new Error('the disk is full')) : append(batch)
    }
    const problems: string[] = []
    const aborted = gate()
    const never = gate()
    const on = gate()
    let turns = 0
    const { retinue, model, cwd } = await family(
      {
        root: [{ calls: [{ spawn: { task: 'One' } }] }, AWAIT, DONE],
        a1: [{ text: 'One.' }],
      },
      {
        spoil: fill,
        onProblem: (text) => void problems.push(text),
        hold: ({ agent_id }, signal) => {
          if (agent_id === 'root') return ++turns === 1 ? undefined : on.opened
          signal.addEventListener('abort', aborted.open)
          return never.opened
        },
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const broken = run.result().catch((error: Error) => error)
    for await (const event of retinue.follow(run.run_id)) {
      if (event.type === 'model.requested' && event.agent_id === 'a1') break
    }
    full = true
    on.open()
    if (ON_WORKERS) {
      // The worker says what is wrong and tries again; sub-agents are at work for themselves there.
      await expect.poll(() => problems[0]).toContain('the disk is full')
    } else {
      expect(await broken).toMatchObject({ message: expect.stringContaining('the disk is full') })
      await aborted.opened
    }
    full = false
    await retinue.close()
    const later = await retinueIn(cwd, model)
    expect(await later.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    const closed = dataOf(await later.events(run.run_id), 'agent.subagent_closed')
    expect(closed).toMatchObject([{ sub_agent_id: 'a1', final_status: 'completed', result: { text: 'One.' } }])
  })

  it('B5: one that finishes and does not pass its gate has failed, whatever it says, and the run goes on', async () => {
    const schema = { type: 'object', required: ['boats'], properties: { boats: { type: 'integer' } } }
    const { retinue, cwd, model } = await family(
      {
        root: [
          {
            calls: [
              { spawn: { task: 'Make it', checks: ['true', 'test -e made.txt', 'touch never'] } },
              { spawn: { task: 'Count', schema } },
              { spawn: { task: 'Count again', schema } },
            ],
          },
          AWAIT,
          { text: 'One of three.' },
        ],
        a1: [{ text: '[a1: OK]\nmade.txt is there, all checks pass.' }],
        a2: [{ text: '{"boats": "many"}' }],
        a3: [{ text: 'Here:\n```json\n{"boats": 7}\n```' }],
      },
      { settings: { mode: 'dangerous' } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(result).toMatchObject({ outcome: 'completed', text: 'One of three.' })
    expect(lifeOf(events, 'a1')).toEqual([
      'root created',
      'a1 started',
      'a1 attempt',
      'a1 waiting_for_merge',
      'root agent.gate_started',
      'root agent.gate_checked',
      'root agent.gate_started',
      'root agent.gate_checked',
      'root closed',
    ])
    expect(existsSync(join(cwd, 'never'))).toBe(false)
    // Its own word stands beside what the gate found.
    expect(dataOf(events, 'agent.subagent_waiting_for_merge').map((data) => data.result.outcome)).toEqual(
      Array(3).fill('completed'),
    )
    const ends = dataOf(events, 'agent.subagent_closed').sort((a, b) => a.step_idx - b.step_idx)
    expect(ends.map(({ final_status, result: { outcome } }) => [final_status, outcome])).toEqual([
      ['failed', 'gate_failed'],
      ['failed', 'gate_failed'],
      ['completed', 'completed'],
    ])
    expect(ends[0]?.close_reason).toMatch(/^the check failed: test -e made\.txt: exit code 1/)
    expect(ends[1]?.close_reason).toContain('/boats must be integer')
    expect(ends[2]?.close_reason).toBe('it gave its answer; 1 of 1 checks passed')
    const told = (await toldTo(retinue, result.run_id)).at(-1)?.content ?? ''
    expect(told.match(/^\[a\d: \w+\]$/gm)).toEqual(['[a1: ERROR]', '[a2: ERROR]', '[a3: OK]'])
    expect(told).toContain('gate_failed: the check failed: test -e made.txt')
    expect((await subAgents(cwd))[1]).toMatchObject({ agent_id: 'a1', state: 'closed', outcome: 'gate_failed' })
    model.assertAllUsed()
  })

  it('B5: the run is not closed before its sub-agents are, and gets results that nobody asked for', async () => {
    const answer = gate()
    const { retinue, model } = await family(
      {
        root: [
          { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
          { text: 'I am done already.' },
          { expect: { contains: ['[a1: OK]\nOne.', '[a2: ERROR]\nerror: no'] }, text: 'Now I am done.' },
        ],
        a1: [{ text: 'One.' }],
        a2: [{ fail: { code: 'auth', message: 'no' } }],
      },
      { hold: ({ agent_id }) => (agent_id === 'a1' ? answer.opened : undefined) },
    )
    const run = retinue.run({ task: 'Do it' })
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (
        event.type === 'model.responded' &&
        event.agent_id === 'root' &&
        dataOf(events, 'model.responded').length > 1
      ) {
        answer.open()
      }
    }
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Now I am done.' })
    const after = written(events).filter((line) =>
      /^root (agent\.(subagent_closed|results|finished)|run\.closed)/.test(line),
    )
    expect(after).toEqual([
      'root agent.subagent_closed',
      'root agent.subagent_closed',
      'root agent.results_delivered',
      'root agent.finished',
      'root run.closed',
    ])
    expect(dataOf(events, 'agent.results_delivered')[0]?.sub_agent_ids).toEqual(['a1', 'a2'])
    model.assertAllUsed()
  })

  it('B6: the events of a sub-agent, all of them in order, with the payloads that the seed asks for', async () => {
    const usage = { input_tokens: 900, output_tokens: 100 }
    const { retinue, cwd, model } = await family(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Read a.txt', checks: ['true'] } }] }, DONE],
        a1: [
          { calls: [{ read_file: { path: 'a.txt' } }], usage, cost_usd: 0.01 },
          { text: 'It says a.', usage, cost_usd: 0.01 },
        ],
      },
      { files: { 'a.txt': 'a\n' }, settings: { mode: 'dangerous' } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(written(withoutRests(events))).toEqual([
      'root run.created',
      'root agent.started',
      'root model.requested',
      'root model.responded',
      'root tool.called',
      'root agent.subagent_created',
      'a1 agent.subagent_started',
      'a1 agent.subagent_attempt',
      'a1 model.requested',
      'a1 model.responded',
      'a1 tool.called',
      'a1 tool.finished',
      'a1 model.requested',
      'a1 model.responded',
      'a1 agent.subagent_waiting_for_merge',
      'root agent.gate_started',
      'root agent.gate_checked',
      'root agent.subagent_closed',
      'root tool.finished',
      'root model.requested',
      'root model.responded',
      'root agent.finished',
      'root run.closed',
    ])
    const about = eventsAbout(events, 'a1')
    const place = { sub_agent_id: 'a1', step_idx: 0 }
    expect(about.map(({ data }) => data)).toEqual(about.map(() => expect.objectContaining(place)))
    expect(dataOf(events, 'agent.subagent_closed')).toEqual([
      {
        ...place,
        final_status: 'completed',
        close_reason: 'it gave its answer; 1 of 1 checks passed',
        result: {
          outcome: 'completed',
          cause: null,
          reason: null,
          text: 'It says a.',
          turns: 2,
          tool_calls: 1,
          usage: {
            input_tokens: 1800,
            output_tokens: 200,
            cached_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
          },
          cost_usd: 0.02,
          files_read: ['a.txt'],
          files_changed: [],
          duration_ms: expect.any(Number),
          context_tokens: 1000,
        },
        used: { total_tokens: 2000, cost_usd: 0.02, sub_agents: 0 },
      },
    ])
    // A line each for the condensed timeline; all the rest is in the event.
    expect(about.map(summarize)).toEqual([
      'a1 created on scripted/test (inherited from its parent) in dangerous mode: Read a.txt',
      'sub-agent started: Read a.txt',
      'attempt 1',
      'sub-agent has its result, completed, and waits to be joined',
      'checks a1: true',
      'check of a1 passed: true',
      'a1 closed, completed: it gave its answer; 1 of 1 checks passed',
    ])
    expect(await retinue.events(result.run_id)).toEqual(events)
    expect(await retinue.replay(result.run_id)).toMatchObject({ ok: true, agents: 2 })

    // What is written cannot be changed without its being seen.
    await retinue.close()
    const sql =
      "UPDATE events SET data = replace(data, 'It says a.', 'It says b.') WHERE type = 'agent.subagent_closed'"
    expect((await askDatabase(cwd, sql)).changes).toBe(1)
    const later = await retinueIn(cwd, model)
    expect(await later.replay(result.run_id)).toMatchObject({ ok: false, code: 'tampered' })
  })

  beside(
    'B8: an attempt that takes too long is ended and tried again as often as the contract says',
    async (context) => {
      const { expect, onTestFinished: finished } = context
      const slow = { attempt_timeout_ms: 5000 }
      const { retinue, cwd, model } = await family(
        {
          root: [
            {
              calls: [
                { spawn: { task: 'Slow once', profile: 'twice' } },
                { spawn: { task: 'Slow always', profile: 'twice' } },
                { spawn: { task: 'Slow and no second try', profile: 'once' } },
              ],
            },
            AWAIT,
            DONE,
          ],
          a1: [{ text: 'In time.' }],
        },
        {
          finished,
          settings: {
            delegation: {
              profiles: { twice: { ...slow, max_retries: 1 }, once: { ...slow, max_retries: 0 } },
              report_path_pattern: '.retinue/reports/step-<idx>-result.md',
            },
          },
          hold: ({ agent_id, agent_attempt }) =>
            agent_id === 'root' || (agent_id === 'a1' && agent_attempt === 2) ? undefined : gate().opened,
        },
      )
      const { result, events } = await runToEnd(retinue)
      expect(result).toMatchObject({ outcome: 'completed', text: 'Done.' })
      const reason = 'The 5 seconds of this attempt are used up.'
      const late = { outcome: 'timeout', reason }
      const attempts = dataOf(events, 'agent.subagent_attempt').map((data) => [
        data.sub_agent_id,
        data.attempt,
        data.after,
      ])
      expect(
        attempts
          .filter(([, number]) => number === 1)
          .map(([id]) => id)
          .sort(),
      ).toEqual(['a1', 'a2', 'a3'])
      expect(attempts.filter(([, number]) => number !== 1).sort()).toEqual([
        ['a1', 2, late],
        ['a2', 2, late],
      ])
      const closed = dataOf(events, 'agent.subagent_closed').sort((a, b) => a.step_idx - b.step_idx)
      expect(
        closed.map(({ final_status, close_reason, result: { outcome } }) => [final_status, outcome, close_reason]),
      ).toEqual([
        ['completed', 'completed', 'it gave its answer'],
        ['failed', 'timeout', reason],
        ['failed', 'timeout', reason],
      ])
      for (const id of ['a1', 'a2', 'a3']) {
        const own = events.filter(({ agent_id }) => agent_id === id)
        const begun = own.find(({ type }) => type === 'agent.subagent_attempt')?.at ?? 0
        const over = own.find(({ type }) => type === 'budget.exceeded')?.at ?? 0
        expect(over - begun, id).toBeGreaterThanOrEqual(4990)
      }
      const told = (await toldTo(retinue, result.run_id)).at(-1)?.content ?? ''
      expect(told.match(/^\[a\d: \w+\]$/gm)).toEqual(['[a1: OK]', '[a2: ERROR]', '[a3: ERROR]'])
      // Each has a report, at the place that the pattern names.
      const report = (idx: number) => readFileSync(join(cwd, '.retinue', 'reports', `step-${idx}-result.md`), 'utf8')
      expect(report(0)).toContain('# Slow once\n\nStatus: completed\n')
      expect(report(1)).toContain(`# Slow always\n\nStatus: timeout (${reason})\n`)
      expect(report(2)).toContain(`# Slow and no second try\n\nStatus: timeout (${reason})\n`)
      model.assertAllUsed()
    },
    60_000,
  )

  beside(
    'B8: what the timer ended is a timeout, also where the timer is ahead of the clock',
    async ({ expect, onTestFinished: finished }) => {
      const real = createHost()
      const start = real.clock.now()
      const slow = { ...real.clock, now: () => Math.floor(start + (real.clock.now() - start) * 0.99) }
      const { retinue } = await family(
        { root: [{ calls: [{ spawn: { task: 'Slow', profile: 'once' } }] }, AWAIT, DONE] },
        {
          finished,
          host: { ...real, clock: slow },
          settings: { delegation: { profiles: { once: { attempt_timeout_ms: 5000, max_retries: 0 } } } },
          hold: ({ agent_id }) => (agent_id === 'root' ? undefined : gate().opened),
        },
      )
      const { events } = await runToEnd(retinue)
      expect(dataOf(events, 'agent.subagent_closed')).toMatchObject([
        { result: { outcome: 'timeout', cause: 'wall_ms' } },
      ])
    },
    60_000,
  )

  it('B8: it is closed when it is done, with a report per step, though nobody has asked for it yet', async () => {
    const closed = gate()
    let turns = 0
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [{ spawn: { task: 'Look at a.txt', context: 'Quickly.' } }] }, AWAIT, DONE],
        a1: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'It says a.\n\nThat is all.' }],
      },
      {
        files: { 'a.txt': 'a\n' },
        // The parent's second turn waits until its sub-agent is closed.
        hold: ({ agent_id }) => (agent_id === 'root' && ++turns > 1 ? closed.opened : undefined),
      },
    )
    const run = retinue.run({ task: 'Do it' })
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type !== 'agent.subagent_closed') continue
      expect(dataOf(withoutRests(events), 'tool.called').map(({ tool }) => tool)).toEqual(['spawn', 'read_file'])
      closed.open()
    }
    await run.result()
    const file = join(cwd, '.retinue', 'reports', run.run_id, 'a1-step-0-result.md')
    expect(readFileSync(file, 'utf8').replace(/; 2 turns, .* s$/m, '; FIGURES')).toBe(
      [
        '# Look at a.txt',
        'Status: completed',
        'Sub-agent a1, scripted/test; FIGURES',
        'Files changed: none',
        'Files read: a.txt',
        '## Task',
        'Look at a.txt\n\nContext:\nQuickly.',
        '## Report',
        'It says a.\n\nThat is all.',
        '',
      ].join('\n\n'),
    )
  })
})
