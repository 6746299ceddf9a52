import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EventData, EventType, Retinue, StoredEvent } from '../../src/index.js'
import { git, tree } from '../support/project.js'
import { ON_WORKERS } from '../support/stores.js'
import { family, gate, toldTo } from './family.js'

const AUTO = { settings: { mode: 'auto' as const } }
const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }
const DONE = { text: 'Done.' }

function dataOf<T extends EventType>(events: readonly StoredEvent[], type: T): EventData<T>[] {
  return events.flatMap((event) => (event.type === type ? [event.data as EventData<T>] : []))
}

function write(path: string, content: string) {
  return { calls: [{ write_file: { path, content } }] }
}

async function runToEnd(retinue: Retinue) {
  const run = retinue.run({ task: 'Work' })
  const result = await run.result()
  return { run_id: run.run_id, result, events: await retinue.events(run.run_id) }
}

describe('seed 001, integration', () => {
  it('B5: a sub-agent may have finished and still fail to integrate; the run ends when all are closed', async () => {
    // Each is right alone; together there are two of what may be there once.
    const one = 'test $(cat src/*.txt | grep -c primary) -le 1'
    const spawn = (name: string) => ({ spawn: { task: `Write ${name}`, owns: [`src/${name}.txt`], checks: [one] } })
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('a'), spawn('b')] }, AWAIT, DONE],
        a1: [write('src/a.txt', 'primary\n'), { text: 'a is there' }],
        a2: [write('src/b.txt', 'primary\n'), { text: 'b is there' }],
      },
      { files: { 'src/x.txt': 'x\n' }, ...AUTO },
    )
    const { run_id, events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_waiting_for_merge').map(({ result }) => result.outcome)).toEqual([
      'completed',
      'completed',
    ])
    expect(
      dataOf(events, 'agent.subagent_closed').map(({ sub_agent_id, final_status, result }) => [
        sub_agent_id,
        final_status,
        result.outcome,
      ]),
    ).toEqual([
      ['a1', 'completed', 'completed'],
      ['a2', 'failed', 'gate_failed'],
    ])
    expect(dataOf(events, 'agent.merge_taken_back').map(({ sub_agent_id }) => sub_agent_id)).toEqual(['a2'])
    expect(tree(cwd)).toEqual({ 'src/x.txt': 'x\n', 'src/a.txt': 'primary\n' })
    const [told] = (await toldTo(retinue, run_id)).filter(({ tool }) => tool === 'spawn_await')
    expect(told?.content).toMatch(/\[a1: OK\][\s\S]*\[a2: ERROR\]/)
    const last = events.at(-1)
    expect(last?.type).toBe('run.closed')
    expect(dataOf(events, 'agent.subagent_closed')).toHaveLength(2)
  })

  it('B7: side by side only where what they own cannot overlap, and merged in the order of the steps', async () => {
    const spawn = (name: string, owns: string) => ({ spawn: { task: `Write ${name}`, owns: [owns] } })
    const last = gate()
    const { retinue, cwd } = await family(
      {
        root: [{ calls: [spawn('a', 'a/**'), spawn('b', 'b/**'), spawn('a again', 'a/two.txt')] }, AWAIT, DONE],
        a1: [write('a/one.txt', '1\n'), { text: 'one' }],
        a2: [write('b/one.txt', '1\n'), { text: 'two' }],
        a3: [write('a/two.txt', '2\n'), { text: 'three' }],
      },
      { ...AUTO, hold: ({ agent_id }) => (agent_id === 'a1' ? last.opened : undefined) },
    )
    const run = retinue.run({ task: 'Work' })
    const seen: string[] = []
    for await (const { type, agent_id } of run) {
      if (type === 'agent.workspace_awaited') seen.push(`${agent_id} waits`)
      if (type === 'agent.subagent_waiting_for_merge') seen.push(`${agent_id} ended`)
      // The first begins to write when the second is done and the third waits for it.
      if (seen.includes('a2 ended') && seen.includes('a3 waits')) last.open()
    }
    const events = await retinue.events(run.run_id)
    const awaited = events.filter(({ type }) => type === 'agent.workspace_awaited')
    if (ON_WORKERS) {
      // There it knows only that its parent does not let it write, and the others may have to wait for that word, too.
      expect(awaited.map(({ agent_id }) => agent_id)).toContain('a3')
      expect(awaited.map(({ data }) => data)).toEqual(awaited.map(() => ({ behind: ['root'] })))
    } else {
      expect(awaited.map(({ agent_id, data }) => [agent_id, data])).toEqual([['a3', { behind: ['a1'] }]])
    }
    expect(dataOf(events, 'agent.worktree_merged').map(({ sub_agent_id }) => sub_agent_id)).toEqual(['a1', 'a2', 'a3'])
    expect(tree(cwd)).toEqual({ 'a/one.txt': '1\n', 'a/two.txt': '2\n', 'b/one.txt': '1\n' })
  })

  it('B9: a merge that fails is the failure of the sub-agent, and the others go on', async () => {
    const both = gate()
    const own = gate()
    const requests: Record<string, number> = {}
    const { retinue, cwd } = await family(
      {
        root: [
          {
            calls: [{ spawn: { task: 'Change x', owns: ['x.txt'] } }, { spawn: { task: 'Write y', owns: ['y.txt'] } }],
          },
          write('x.txt', 'by the root\n'),
          AWAIT,
          DONE,
        ],
        a1: [write('x.txt', 'by a1\n'), { text: 'changed x' }],
        a2: [write('y.txt', 'by a2\n'), { text: 'wrote y' }],
      },
      {
        files: { 'x.txt': 'x\n' },
        ...AUTO,
        hold: ({ agent_id }) => {
          requests[agent_id] = (requests[agent_id] ?? 0) + 1
          if (requests[agent_id] !== 2) return undefined
          return agent_id === 'root' ? both.opened : own.opened
        },
      },
    )
    const run = retinue.run({ task: 'Work' })
    const wrote = new Set<string>()
    for await (const event of run) {
      if (event.type === 'tool.finished' && event.data.tool === 'write_file') wrote.add(event.agent_id)
      if (wrote.has('a1') && wrote.has('a2')) both.open()
      if (wrote.has('root')) own.open()
    }
    const closed = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
    expect(closed.map(({ sub_agent_id, result }) => [sub_agent_id, result.outcome])).toEqual([
      ['a1', 'merge_conflict'],
      ['a2', 'completed'],
    ])
    expect(closed[0]?.close_reason).toContain('x.txt')
    expect(tree(cwd)).toEqual({ 'x.txt': 'by the root\n', 'y.txt': 'by a2\n' })
    const { branch = '', path = '' } = closed[0]?.result.receipt?.kept ?? {}
    expect(readFileSync(join(cwd, path, 'x.txt'), 'utf8')).toBe('by a1\n')
    expect(git(cwd, `--git-dir=${join(cwd, '.retinue', 'git')}`, 'show', `${branch}:x.txt`)).toBe('by a1\n')
  })
})
