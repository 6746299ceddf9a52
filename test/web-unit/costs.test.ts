import { describe, expect, it } from 'vitest'
import {
  type CostLine,
  cachedShare,
  ofModels,
  spentBy,
  spentByDay,
  spentOn,
  topOf,
} from '../../web/src/pages/cost/costs'
import { moneyOf } from '../../web/src/pages/cost/money'

function row(more: Partial<CostLine>): CostLine {
  return {
    ...{ run_id: 'r1', agent_id: 'root', profile: null, model: 'a/one', day: '2026-11-14', calls: 1, task: 'x' },
    ...{ input_tokens: 100, output_tokens: 10, cached_tokens: 40, cost_usd: 0.1 },
    ...more,
  }
}

const ROWS = [
  row({ calls: 2 }),
  row({ model: 'b/two', cost_usd: 0.2, day: '2026-11-16' }),
  row({ model: 'c/free', cost_usd: null, calls: 3, input_tokens: 900 }),
]

const ONE = { known_usd: 0.1, calls: 2, unpriced_calls: 0, input_tokens: 100, output_tokens: 10, cached_tokens: 40 }
const TWO = { ...ONE, known_usd: 0.2, calls: 1 }
const FREE = { ...ONE, known_usd: 0, calls: 3, unpriced_calls: 3, input_tokens: 900 }
const NONE = { known_usd: 0, calls: 0, unpriced_calls: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

describe('what was spent', () => {
  it('adds up what is known, and counts what is not', () => {
    expect(spentOn(ROWS)).toEqual({
      ...{ known_usd: 0.3, calls: 6, unpriced_calls: 3 },
      ...{ input_tokens: 1_100, output_tokens: 30, cached_tokens: 120 },
    })
    expect(spentOn([])).toEqual(NONE)
  })

  it('is told apart by what one asks for, the most money first', () => {
    expect(spentBy(ROWS, ({ model }) => model)).toEqual([
      { key: 'b/two', ...TWO },
      { key: 'a/one', ...ONE },
      { key: 'c/free', ...FREE },
    ])
  })

  it('has every day of a time, those without a call too', () => {
    expect(spentByDay(ROWS, '2026-11-14', '2026-11-17')).toEqual([
      { key: '2026-11-14', ...spentOn([ROWS[0] as CostLine, ROWS[2] as CostLine]) },
      { key: '2026-11-15', ...NONE },
      { key: '2026-11-16', ...TWO },
      { key: '2026-11-17', ...NONE },
    ])
    expect(spentByDay([], '2027-02-27', '2027-03-02').map(({ key }) => key)).toEqual([
      ...['2027-02-27', '2027-02-28', '2027-03-01', '2027-03-02'],
    ])
  })

  it('is never said to be nothing where a price is not known', () => {
    expect(moneyOf(FREE)).toEqual({ text: 'unknown', missing: 'the price of 3 calls is not known' })
    expect(moneyOf(spentOn(ROWS))).toEqual({ text: '$0.30 and more', missing: 'the price of 3 calls is not known' })
    expect(moneyOf({ ...FREE, calls: 5 })).toEqual({ text: 'unknown', missing: 'the price of 3 calls is not known' })
    expect(moneyOf(TWO)).toEqual({ text: '$0.20', missing: null })
    expect(moneyOf(NONE)).toEqual({ text: '–', missing: null })
  })

  it('leaves out the turns of programs, in which no model is asked', () => {
    const program = row({ model: 'program/plan', cost_usd: 0 })
    expect(ofModels([program, ...ROWS])).toEqual(ROWS)
  })

  it('says how much came from a cache', () => {
    expect([cachedShare(ONE), cachedShare(NONE)]).toEqual([40, null])
  })

  it('is drawn below a round number that is no smaller', () => {
    expect([0, 0.03, 0.1, 0.11, 2, 5.8, 61, 7_000_000].map(topOf)).toEqual([1, 0.05, 0.1, 0.2, 2, 10, 100, 10_000_000])
  })
})
