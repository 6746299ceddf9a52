import { describe, expect, test } from 'vitest'
import { lastedOf, segmentsOf } from '../../web/src/pages/run/tree/segments.js'

const wide = { origin: 1000, now: 2000, view: { from: 0, to: 1000 }, width: 100 }

describe('the bar of an agent', () => {
  test('has a piece for each span, and what has not ended goes on until now', () => {
    const spans = [
      { kind: 'waiting_for_slot', from: 1100, to: 1200 },
      { kind: 'asking_model', from: 1200, to: null },
    ]
    expect(segmentsOf(spans, wide)).toEqual([
      { kind: 'waiting_for_slot', from: 100, to: 200, x: 10, width: 10, others: 0 },
      { kind: 'asking_model', from: 200, to: 1000, x: 20, width: 80, others: 0 },
    ])
  })

  test('ends where its agent has ended', () => {
    const spans = [
      { kind: 'asking_model', from: 1000, to: 1500 },
      { kind: 'ended', from: 1500, to: null },
    ]
    expect(segmentsOf(spans, wide).map(({ kind, width }) => [kind, width])).toEqual([['asking_model', 50]])
  })

  test('shows what is in view, cut at its edges', () => {
    const spans = [
      { kind: 'a', from: 1000, to: 1100 },
      { kind: 'b', from: 1100, to: 1500 },
      { kind: 'c', from: 1500, to: 1700 },
      { kind: 'd', from: 1700, to: 1800 },
    ]
    expect(segmentsOf(spans, { ...wide, view: { from: 400, to: 600 } })).toEqual([
      { kind: 'b', from: 100, to: 500, x: 0, width: 50, others: 0 },
      { kind: 'c', from: 500, to: 700, x: 50, width: 50, others: 0 },
    ])
  })

  test('draws what is narrower than a pixel together, under the name of the longest', () => {
    const spans = [
      { kind: 'asking_model', from: 1000, to: 1002 },
      { kind: 'using_tool', from: 1002, to: 1007 },
      { kind: 'asking_model', from: 1007, to: 1010 },
      { kind: 'waiting_for_agents', from: 1010, to: 1100 },
    ]
    expect(segmentsOf(spans, wide)).toEqual([
      { kind: 'using_tool', from: 0, to: 10, x: 0, width: 1, others: 2 },
      { kind: 'waiting_for_agents', from: 10, to: 100, x: 1, width: 9, others: 0 },
    ])
  })

  test('has no more pieces than pixels, however much an agent did', () => {
    const spans = Array.from({ length: 50_000 }, (_, i) => ({
      kind: i % 2 === 0 ? 'asking_model' : 'using_tool',
      from: 1000 + i * 0.02,
      to: 1000 + (i + 1) * 0.02,
    }))
    const pieces = segmentsOf(spans, wide)
    expect(pieces.length).toBeLessThanOrEqual(100)
    expect(pieces.reduce((sum, { others }) => sum + others + 1, 0)).toBe(50_000)
  })
})

test('how long each kind lasted, longest first', () => {
  const spans = [
    { kind: 'asking_model', from: 0, to: 100 },
    { kind: 'using_tool', from: 100, to: 150 },
    { kind: 'asking_model', from: 150, to: 160 },
    { kind: 'waiting_for_person', from: 160, to: null },
    { kind: 'ended', from: 999, to: null },
  ]
  expect(lastedOf(spans, 460)).toEqual([
    { kind: 'waiting_for_person', ms: 300 },
    { kind: 'asking_model', ms: 110 },
    { kind: 'using_tool', ms: 50 },
  ])
})
