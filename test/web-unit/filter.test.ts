import { describe, expect, it } from 'vitest'
import { emptyTree, growTree, type RunTree, type TreeAgent } from '#domain'
import { countsOf, FILTERS, wantedBy } from '../../web/src/pages/run/tree/filter'
import { standingIn, standingWord } from '../../web/src/pages/run/tree/standing'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

/** A root that works, and below it one of each: waiting, at work and asking, completed, cancelled. */
function tree(): RunTree {
  const run = eventsOfRun()
  run.root()
  run.create('root', 'a1')
  const asks = run.create('root', 'a2')
  asks.start()
  run.add('a2', 'permission.asked', { call_id: 'c1', tool: 'x', summary: 'write', reason: '' })
  const [done, cancelled] = [run.create('root', 'a3'), run.create('root', 'a4')]
  done.start()
  done.close('completed', resultOf())
  cancelled.start()
  cancelled.close('failed', resultOf({ outcome: 'cancelled' }))
  return run.events.reduce(growTree, emptyTree())
}

const NONE = { waiting: 0, at_work: 0, interrupted: 0, completed: 1, incomplete: 0, failed: 1, clamped: 0 }

describe('the filters of the tree', () => {
  it('count each sub-agent once, and nothing else', () => {
    expect(countsOf(tree(), false)).toEqual({ ...NONE, all: 4, waiting: 1, at_work: 1 })
    expect(countsOf(tree(), true)).toEqual({ ...NONE, all: 4, interrupted: 2 })
  })

  it('show as many as they count', () => {
    for (const interrupted of [false, true]) {
      const shown = tree()
      const counts = countsOf(shown, interrupted)
      for (const filter of FILTERS.filter((name) => name !== 'all')) {
        const wanted = wantedBy({ filter, search: '', interrupted })
        const found = [...shown.agents.values()].filter((agent) => wanted?.(agent))
        expect([filter, found.length]).toEqual([filter, counts[filter]])
      }
    }
  })
})

it('says of an agent how it ended, and of one that nobody works on that it was interrupted', () => {
  const { agents } = tree()
  const said = (id: string, interrupted: boolean) => {
    const agent = agents.get(id) as TreeAgent
    return standingWord(agent, standingIn(agent, interrupted))
  }
  expect(['root', 'a1', 'a2', 'a3', 'a4'].map((id) => [said(id, false), said(id, true)])).toEqual([
    ['at work', 'interrupted'],
    ['waiting', 'interrupted'],
    ['at work', 'interrupted'],
    ['completed', 'completed'],
    ['cancelled', 'cancelled'],
  ])
})
