import { expect, it } from 'vitest'
import { type NewEvent, summarize } from '../../src/domain/index.js'
import { eventsOfRun, landingOf } from '../support/tree-events.js'

it('says in a line what a run is about, not the order that a program is given', () => {
  const run = eventsOfRun()
  run.root('Mend the roof\n\n{"goal":"Mend the roof","max_concurrent":4}')
  expect(summarize(run.events[0] as NewEvent)).toBe('run created: Mend the roof')
})

it('counts and times as people do', () => {
  const run = eventsOfRun()
  run.root()
  run.finish('root', 'c1', 'x', { duration_ms: 15_114 })
  const files = [{ path: 'a.md', kind: 'added' as const }]
  run.add('root', 'run.landed', landingOf({ files }))
  run.add('root', 'context.masked', { call_ids: Array.from({ length: 1_200 }, (_, i) => `c${i}`), estimated_tokens: 1 })
  expect(run.events.slice(2).map(summarize)).toEqual([
    'x ok in 15.1 s',
    '1 file brought into the folder',
    'masked 1,200 old tool results',
  ])
})
