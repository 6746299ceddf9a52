import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  costsOf,
  doingOf,
  emptySpans,
  emptyTree,
  growSpans,
  growTree,
  PlanProgress,
  parseEvent,
  type RunTree,
  type StoredEvent,
  summarize,
  type TreeAgent,
  type WatchedEvent,
  watched,
} from '../../src/domain/index.js'
import { ask, DONE } from '../seeds/asking.js'
import { family } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'
import { eventsOfRun, receiptOf, resultOf } from '../support/tree-events.js'
import { randomRun } from './random-events.js'

/** As it would arrive. */
const sent = (event: StoredEvent): WatchedEvent => JSON.parse(JSON.stringify(watched(event)))

function grown(events: readonly StoredEvent[]) {
  const [tree, spans, progress] = [emptyTree(), emptySpans(), new PlanProgress()]
  for (const event of events) {
    growSpans(spans, growTree(tree, event), event)
    progress.grow(event)
  }
  return { agents: agentsOf(tree), spans, steps: progress.total(), costs: costsOf(events) }
}

function agentsOf({ agents }: RunTree) {
  return [...agents.values()].map((agent: TreeAgent) => ({ ...agent, doing: doingOf(agent) }))
}

/** A sub-agent that reads a long file and says a long text, under a contract that has something in every field. */
async function longRun(): Promise<StoredEvent[]> {
  const long = 'All that there is to say. '.repeat(100)
  const { retinue } = await family(
    {
      root: [ask({ task: long, profile: 'scribe' }), DONE],
      a1: [{ text: long, calls: [{ read_file: { path: 'long.txt' } }] }, { text: long }],
    },
    {
      files: { 'long.txt': long },
      settings: { delegation: { profiles: { scribe: { mode: 'normal', tools: ['read_file'] } } } },
    },
  )
  return (await runToEnd(retinue)).events
}

describe('an event that is sent to those who watch', () => {
  it('is an event of the same type, of the same place, with a line that says it', async () => {
    const events = await longRun()
    for (const event of events) {
      const { summary, cut, data, ...rest } = sent(event)
      const { data: whole, ...place } = event
      expect(rest).toEqual(place)
      expect(summary).toBe(summarize(event))
      expect(parseEvent(event.type, event.version, event.at, data)).toMatchObject({ ok: true })
      expect(cut).toBe(JSON.stringify(data) !== JSON.stringify(whole))
    }
    const most = Math.max(...events.map((event) => JSON.stringify(watched(event)).length))
    expect(most).toBeLessThan(5000)
  })

  it('makes the same tree, spans, steps and costs as the whole one', async () => {
    const events = await longRun()
    expect(grown(events.map(sent))).toEqual(grown(events))
    fc.assert(
      fc.property(randomRun(), (run) => {
        expect(grown(run.map(sent))).toEqual(grown(run))
      }),
      { numRuns: 30 },
    )
  })

  it('has the names of all that a call waits for, and of all that somebody is behind', () => {
    const run = eventsOfRun()
    run.root()
    const ids = Array.from({ length: 300 }, (_, i) => `a${i + 1}`)
    for (const id of ids) run.create('root', id)
    run.call('root', 'c9', 'spawn_await', 'all', { effect: 'delegate', args: { job_ids: ids.join(', ') } })
    run.add('a300', 'agent.workspace_awaited', { behind: ids.slice(0, -1) })
    const { root } = run.events.map(sent).reduce(growTree, emptyTree())
    expect(root && doingOf(root)).toEqual({ kind: 'waiting_for_agents', ids })
    expect(root?.children.at(-1)?.behind).toEqual(ids.slice(0, -1))
    expect(run.events.slice(-2).map((event) => sent(event).cut)).toEqual([false, false])
  })

  it('has of texts and lists so much and says that there is more, never half of a character', () => {
    const run = eventsOfRun()
    run.root()
    const text = `${'x'.repeat(999)}😀 and more`
    run.finish('root', 'c1', 'read_file', { content: text, files_read: Array.from({ length: 1001 }, (_, i) => `${i}`) })
    const left_out = Array.from({ length: 900 }, (_, i) => `${i}.log`)
    run.create('root', 'a1').close('completed', resultOf({ receipt: receiptOf({ left_out }) }))
    const [finished, closed] = [sent(run.events[2] as StoredEvent), sent(run.events[4] as StoredEvent)]
    expect(finished.data).toMatchObject({ content: `${'x'.repeat(999)}…`, files_read: { length: 1000 } })
    expect([finished.cut, closed.cut]).toEqual([true, false])
    expect(closed.data).toEqual(run.events[4]?.data)
  })

  it('has of a contract whose it is, on which model and in which mode, and what was adjusted', async () => {
    const events = await longRun()
    const created = events.find(({ type }) => type === 'agent.subagent_created')
    if (created?.type !== 'agent.subagent_created') throw new Error('nobody was created')
    const { contract } = created.data
    const { permissions, step, parent, workspace } = contract
    expect(sent(created).data).toMatchObject({
      contract: {
        ...contract,
        parent: { ...parent, task_prompt: '', goal_summary: '' },
        step: { title: step.title, description: '', success_criteria: [] },
        permissions: {
          ...permissions,
          ...{ allowed_tools: [], allowed_skills: [], allowed_mcp_servers: [], read_paths: [[]], write_paths: [[]] },
          rules: [{ mode: permissions.mode, rules: [] }],
        },
        workspace: { ...workspace, owns: [] },
      },
    })
  })
})
