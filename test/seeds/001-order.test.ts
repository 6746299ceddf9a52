import { describe, expect, it } from 'vitest'
import type { PlanRun, StoredEvent } from '../../src/index.js'
import { tree } from '../support/project.js'
import { ON_WORKERS } from '../support/stores.js'
import { family, gate } from './family.js'

const AUTO = { settings: { mode: 'auto' as const } }

function write(path: string, content: string) {
  return { calls: [{ write_file: { path, content } }] }
}

/** `c` may write what `a` may; `b` may write neither's. */
const PLAN = {
  version: 1,
  goal: 'Three pages',
  steps: [
    { id: 'a', description: 'Write a', owns: 'a/**' },
    { id: 'b', description: 'Write b', owns: 'b/**' },
    { id: 'c', description: 'Write c', owns: 'a/two.txt' },
  ],
}

const SCRIPT = {
  a1: [{ expect: 'Write a', ...write('a/one.txt', '1\n') }, { text: 'one' }],
  a2: [{ expect: 'Write b', ...write('b/one.txt', '1\n') }, { text: 'two' }],
  a3: [{ expect: 'Write c', ...write('a/two.txt', '2\n') }, { text: 'three' }],
}
const PAGES = { 'a/one.txt': '1\n', 'b/one.txt': '1\n', 'a/two.txt': '2\n' }

/** What the log says about when steps began, were integrated and ended. */
function order(events: readonly StoredEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'plan.step_started') return [`${event.data.step} begins`]
    if (event.type === 'plan.step_ended') return [`${event.data.step} ${event.data.status}`]
    if (event.type === 'agent.worktree_merged') return [`${event.data.sub_agent_id} merged`]
    return []
  })
}

async function allOf(run: PlanRun, seen: (event: StoredEvent) => void = () => {}): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const event of run) {
    events.push(event)
    seen(event)
  }
  return events
}

describe('seed 001, B7: order', () => {
  it('B7: steps of a plan are side by side where what they own cannot overlap, and only there', async () => {
    const both = gate()
    const asked = new Set<string>()
    const { retinue, cwd, model } = await family(SCRIPT, {
      ...AUTO,
      // Neither of the first two is answered before both have asked.
      hold: ({ agent_id }) => {
        asked.add(agent_id)
        if (asked.has('a1') && asked.has('a2')) both.open()
        return both.opened
      },
    })
    const events = await allOf(retinue.executePlan(PLAN, { approve: 'yes' }))
    const log = order(events)
    // Whether c begins before b is integrated, and b is integrated before it is said of a, is a matter of time.
    const lines = (end: string) => log.filter((line) => line.endsWith(end))
    expect(log.slice(0, 3)).toEqual(['a begins', 'b begins', 'a1 merged'])
    expect(lines('merged')).toEqual(['a1 merged', 'a2 merged', 'a3 merged'])
    expect(lines('completed')).toEqual(['a completed', 'b completed', 'c completed'])
    expect(log.indexOf('b completed')).toBeGreaterThan(log.indexOf('a2 merged'))
    expect(log.indexOf('c begins')).toBeGreaterThan(log.indexOf('a completed'))
    expect(log.at(-1)).toBe('c completed')
    expect(tree(cwd)).toEqual(PAGES)
    model.assertAllUsed()
  })

  it('B7: work is integrated in the order of the steps, whoever was done first, and comes to the same', async () => {
    const played = async (last: 'a1' | 'a2') => {
      const done = gate()
      const { retinue, cwd } = await family(SCRIPT, {
        ...AUTO,
        hold: ({ agent_id }) => (agent_id === last ? done.opened : undefined),
      })
      const ends: string[] = []
      const run = retinue.executePlan(PLAN, { approve: 'yes' })
      const events = await allOf(run, ({ type, agent_id }) => {
        if (type !== 'agent.subagent_waiting_for_merge') return
        ends.push(agent_id)
        done.open()
      })
      const integrated = order(events).filter((line) => !line.endsWith('begins'))
      return { ends, integrated, files: tree(cwd), status: (await run.outcome()).status }
    }
    const [one, other] = [await played('a1'), await played('a2')]
    expect([one.ends[0], other.ends[0]]).toEqual(['a2', 'a1'])
    const same = {
      integrated: ['a1 merged', 'a completed', 'a2 merged', 'b completed', 'a3 merged', 'c completed'],
      files: PAGES,
      status: 'completed',
    }
    expect(one).toEqual({ ...same, ends: one.ends })
    expect(other).toEqual({ ...same, ends: other.ends })
  })

  it('B7: the order is said before: what waits for what, and why', async () => {
    const { retinue } = await family({}, AUTO)
    const checked = await retinue.checkPlan(PLAN)
    if (!checked.ok) throw new Error(JSON.stringify(checked.faults))
    const { steps, parallel } = checked.preview
    expect(steps.map(({ id, wave, waits }) => [id, wave, waits.map(({ step }) => step)])).toEqual([
      ['a', 1, []],
      ['b', 1, []],
      ['c', 2, ['a']],
    ])
    expect(parallel.most).toBe(2)
  })

  it('B7: subtasks that a model hands out are integrated in their order, too', async () => {
    const second = gate()
    const { retinue, cwd, model } = await family(
      {
        root: [
          {
            calls: [{ delegate_task: { plan: 'Two pages', subtasks: [{ task: 'Write a' }, { task: 'Write b' }] } }],
          },
          { text: 'Done.' },
        ],
        a1: [write('a.txt', 'a\n'), { text: 'one' }],
        a2: [write('b.txt', 'b\n'), { text: 'two' }],
      },
      // The first writes when the second is waiting to: nobody said what they own, so both may write anything.
      { ...AUTO, hold: ({ agent_id }) => (agent_id === 'a1' ? second.opened : undefined) },
    )
    const run = retinue.run({ task: 'Work' })
    const awaited: string[] = []
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type !== 'agent.workspace_awaited') continue
      awaited.push(event.agent_id)
      second.open()
    }
    // On a worker the parent may take a while to let the first write, too.
    expect(ON_WORKERS ? awaited.slice(0, 1) : awaited).toEqual(['a2'])
    expect(order(events).filter((line) => line.endsWith('merged'))).toEqual(['a1 merged', 'a2 merged'])
    expect(tree(cwd)).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    model.assertAllUsed()
  })
})
