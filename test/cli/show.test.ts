import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type NewEvent, openSqliteStore } from '../../src/index.js'
import {
  agentFinished,
  claim,
  closed,
  created,
  result,
  started,
  subAgent,
  subAgentClosed,
  subAgentCreated,
  subAgentReused,
  subAgentStarted,
  subAgentWaits,
  taken,
} from '../../src/store/conformance/fixtures.js'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'

function joined(event: NewEvent): NewEvent {
  if (event.type !== 'agent.subagent_closed') return event
  return { ...event, data: { ...event.data, final_status: 'completed' } }
}

/** A closed run whose root had so many sub-agents, and one whose result was an earlier one's. */
async function wideRun(
  children: number,
  done = result({ text: 'A slate\nis mended.', files_read: ['roof.md'], files_changed: ['slate.md'] }),
): Promise<{ cwd: string; run_id: string }> {
  const cwd = makeProject({})
  mkdirSync(join(cwd, '.retinue'))
  const clock = { now: () => Date.now() }
  const opened = await openSqliteStore({ file: join(cwd, '.retinue/retinue.db'), clock })
  if (!opened.ok) throw new Error(opened.message)
  const { store } = opened
  const run_id = 'wide'
  const subs = Array.from({ length: children }, (_, index) => subAgent(index + 1))
  await taken(store, {
    ...{ run_id, agent_id: 'root', epoch: 1, expected_seq: 0, claim },
    events: [created(undefined, { workspace_root: cwd }), started(), ...subs.map((sub) => subAgentCreated(sub))],
  })
  await Promise.all(
    subs.map((sub) =>
      taken(store, {
        ...{ run_id, agent_id: sub.sub_agent_id, epoch: 1, expected_seq: 0, claim },
        events: [subAgentStarted(sub), subAgentWaits(sub, done)],
      }),
    ),
  )
  const last = [
    ...subs.map((sub) => joined(subAgentClosed(sub, done))),
    subAgentReused(subAgent(children + 1), result({ text: 'As before.' })),
    agentFinished('The roof is mended.'),
    closed('completed', 'The roof is mended.'),
  ]
  await taken(store, { run_id, agent_id: 'root', epoch: 1, expected_seq: 2 + children, events: last })
  await store.close()
  return { cwd, run_id }
}

describe('show of a run with very many agents', () => {
  it('has every agent in the tree, and contracts on their own pages', async () => {
    const { cwd, run_id } = await wideRun(1000)
    const whole = await retinue(['show', run_id], { cwd })
    expect(whole.code).toBe(0)
    expect(whole.stdout).toContain('1,001 agents, each under a contract of its own: retinue show wide <agent>')
    expect(whole.stdout).not.toContain('budget:')
    const tree = whole.stdout.split('\n').filter((line) => /^ *(root|a\d+) .*tokens/.test(line))
    expect(tree).toHaveLength(1002)
    expect(tree[0]).toMatch(/^root .* completed/)
    expect(tree[1000]).toMatch(/^ {2}a1000 .* completed/)
    expect(tree[1001]).toMatch(/^ {2}a1001 Slate .* completed, an earlier result/)

    const one = await retinue(['show', run_id, 'a1000'], { cwd })
    expect(one.stdout).toContain('asked by    root, with call c')
    expect(one.stdout).toMatch(/Report\nA slate\nis mended\.\nread: roof\.md\nchanged: slate\.md\n$/)

    const none = await retinue(['show', run_id, 'b1'], { cwd })
    expect(none.code).toBe(42)
    expect(none.stderr).toMatch(/^retinue: Run wide has no agent "b1"\. It has: root, a1, .*, a19 and 982 more\n$/)
  }, 60_000)
})

describe('show of one agent', () => {
  it('gives its own events and those about it, and no others', async () => {
    const { cwd, run_id } = await wideRun(3)
    const events = lines((await retinue(['show', run_id, 'a2', '--json'], { cwd })).stdout) as {
      agent_id: string
      type: string
      data: { sub_agent_id?: string }
    }[]
    expect(events.map(({ agent_id, type, data }) => [agent_id, type, data.sub_agent_id])).toEqual([
      ['root', 'agent.subagent_created', 'a2'],
      ['a2', 'agent.subagent_started', 'a2'],
      ['a2', 'agent.subagent_waiting_for_merge', 'a2'],
      ['root', 'agent.subagent_closed', 'a2'],
    ])
  })

  it('gives the report alone, as it is, for a pipe', async () => {
    const { cwd, run_id } = await wideRun(1)
    const report = async (...more: string[]) => (await retinue(['show', run_id, ...more, '--report'], { cwd })).stdout
    expect(await report('a1')).toBe('A slate\nis mended.\n')
    expect(await report()).toBe('The roof is mended.\n')
    expect(await report('root')).toBe('The roof is mended.\n')
    // Nobody ran, but what it came to can be read.
    expect(await report('a2')).toBe('As before.\n')
    expect((await retinue(['show', run_id, 'a2'], { cwd })).stdout).toContain('of a1 of run earlier')
    expect(lines(await report('a1', '--json'))).toEqual([
      {
        ...{ agent_id: 'a1', outcome: 'completed', text: 'A slate\nis mended.' },
        ...{ files_read: ['roof.md'], files_changed: ['slate.md'] },
      },
    ])
    expect(lines(await report('--json'))).toMatchObject([{ agent_id: 'root', text: 'The roof is mended.' }])
  })
  it('says what is incomplete, and that there is no report', async () => {
    const { cwd, run_id } = await wideRun(1, result({ outcome: 'budget_exceeded', reason: 'no calls left', text: '' }))
    const whole = (await retinue(['show', run_id], { cwd })).stdout
    expect(whole).toMatch(/^ {2}a1 .* incomplete, budget_exceeded {2}/m)
    expect(whole).toMatch(/ agent\.subagent_closed +a1 closed, incomplete: /)
    const one = (await retinue(['show', run_id, 'a1'], { cwd })).stdout
    expect(one).toMatch(/^incomplete, budget_exceeded: no calls left · run wide$/m)
    for (const more of [[], ['--json']]) {
      expect(await retinue(['show', run_id, 'a1', '--report', ...more], { cwd })).toMatchObject({
        ...{ code: 1, stdout: '' },
        stderr: 'retinue: there is no report of a1: it ended (budget_exceeded) and reported nothing\n',
      })
    }
  })
})
