import { describe, expect, test } from 'vitest'
import { panned, ticksOf, tickText, xOf, zoomed } from '../../web/src/pages/run/tree/scale.js'

const whole = { from: 0, to: 10_000 }

describe('looking closer', () => {
  test('keeps the point in place at which one points', () => {
    const view = zoomed(whole, 0.5, 0.2, whole)
    expect(view).toEqual({ from: 1_000, to: 6_000 })
    expect(xOf(2_000, view, 100)).toBe(xOf(2_000, whole, 100))
  })

  test('and from further away never shows more than there is', () => {
    expect(zoomed({ from: 8_000, to: 9_000 }, 5, 0.5, whole)).toEqual({ from: 5_000, to: 10_000 })
    expect(zoomed({ from: 8_000, to: 9_000 }, 50, 0.5, whole)).toEqual(whole)
  })

  test('ends where there is nothing more to see', () => {
    const { from, to } = zoomed({ from: 100, to: 125 }, 0.01, 0.5, whole)
    expect(to - from).toBe(20)
  })

  test('one moves along, but not past the ends', () => {
    expect(panned({ from: 0, to: 1_000 }, 0.5, whole)).toEqual({ from: 500, to: 1_500 })
    expect(panned({ from: 0, to: 1_000 }, -1, whole)).toEqual({ from: 0, to: 1_000 })
    expect(panned({ from: 9_000, to: 9_500 }, 9, whole)).toEqual({ from: 9_500, to: 10_000 })
  })
})

describe('the axis', () => {
  test('is marked in steps that people count in, with room between them', () => {
    expect(ticksOf(whole, 500)).toEqual({
      step: 2_000,
      ticks: [
        { at: 0, x: 0, text: '0' },
        { at: 2_000, x: 100, text: '2 s' },
        { at: 4_000, x: 200, text: '4 s' },
        { at: 6_000, x: 300, text: '6 s' },
        { at: 8_000, x: 400, text: '8 s' },
        { at: 10_000, x: 500, text: '10 s' },
      ],
    })
    expect(ticksOf({ from: 130, to: 230 }, 200).ticks.map(({ text }) => text)).toEqual(['0.15 s', '0.20 s'])
  })

  test('says times with as many parts as they need', () => {
    expect([
      tickText(5, 1),
      tickText(1_500, 500),
      tickText(90_000, 30_000),
      tickText(300_000, 60_000),
      tickText(7_200_000, 3_600_000),
      tickText(5_400_000, 1_800_000),
    ]).toEqual(['0.005 s', '1.5 s', '1:30', '5 min', '2 h', '1 h 30'])
  })

  test('has no marks where there is no room, and a run of a week has some', () => {
    expect(ticksOf(whole, 0).ticks).toEqual([])
    expect(ticksOf({ from: 0, to: 7 * 86_400_000 }, 400).ticks.length).toBe(4)
  })
})
