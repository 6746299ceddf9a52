import { expect, it } from 'vitest'
import { type CostRow, costsOf } from '../../src/domain/index.js'
import { ask, DONE, PAID } from '../seeds/asking.js'
import { family } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'
import { eventsOfRun } from '../support/tree-events.js'

/** Without the last digits, which are only in which order floats are added up. */
const rounded = (usd: number | null | undefined) => (typeof usd === 'number' ? Number(usd.toFixed(9)) : usd)

function sumOf(rows: readonly CostRow[]) {
  const sum = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: 0 as number | null }
  for (const row of rows) {
    sum.input_tokens += row.input_tokens
    sum.output_tokens += row.output_tokens
    sum.cached_tokens += row.cached_tokens
    sum.cost_usd = sum.cost_usd === null || row.cost_usd === null ? null : sum.cost_usd + row.cost_usd
  }
  return sum
}

it.each([
  ['known', PAID],
  ['not known', { usage: PAID.usage }],
] as const)('add up to what the run says, where the price of a call is %s', async (known, paid) => {
  const { retinue } = await family({
    root: [
      { ...PAID, ...ask({}) },
      { ...PAID, ...ask({}) },
      { ...PAID, ...DONE },
    ],
    'a*': [{ fail: { code: 'bad_output' } }, { ...paid, ...DONE }],
  })
  const { events, result } = await runToEnd(retinue)
  const rows = costsOf(events)
  const { run_id } = result
  const [run] = (await retinue.runs()).filter((one) => one.run_id === run_id)
  const { input_tokens, output_tokens, cached_tokens } = run ?? {}
  const sum = sumOf(rows)
  const said = { input_tokens, output_tokens, cached_tokens, cost_usd: rounded(run?.cost_usd) }
  expect({ ...sum, cost_usd: rounded(sum.cost_usd) }).toEqual(said)
  const failed = events.flatMap((event) => (event.type === 'model.failed' ? [event.data.spent_usd] : []))
  expect([run?.input_tokens, run?.cost_usd === null, failed.length]).toEqual([500, known === 'not known', 2])
})

it('are by agent, by the model that answered and by the day in UTC, those of failed calls too', () => {
  const run = eventsOfRun(Date.UTC(2026, 10, 16, 23, 59, 59))
  run.root()
  run.create('root', 'a1', { profile: 'researcher' }).start()
  run.ask('root', 'q1')
  run.answer('root', 'q1', 100, 0.5)
  run.ask('a1', 'q1')
  const failed = { code: 'network' as const, message: 'gone', retry_after_ms: null, spent_tokens: 10, duration_ms: 1 }
  run.add('a1', 'model.failed', { ...failed, request_id: 'q1', spent_usd: 0.125 })
  run.add('a1', 'model.failed', { ...failed, request_id: 'q1', spent_usd: 0 })
  run.wait(1000)
  run.answer('a1', 'q2', 11, 0.25)
  run.answer('a1', 'q3', 21, null)
  const other = run.add('a1', 'model.responded', {
    ...{ request_id: 'q4', purpose: 'report', model: 'x', answered_by: 'p/x', fell_over: [], parts: [], cost_usd: 1 },
    ...{ finish_reason: 'stop', usage_source: 'provider', duration_ms: 1 },
    usage: { input_tokens: 5, output_tokens: 6, cached_tokens: 4, cache_write_tokens: 0, reasoning_tokens: 0 },
  })
  const row = { run_id: 'r', agent_id: 'a1', profile: 'researcher', model: 'p/m', cached_tokens: 0 }
  expect(other.at).toBe(Date.UTC(2026, 10, 17))
  expect(costsOf(run.events)).toEqual([
    {
      ...{ ...row, agent_id: 'root', profile: null, day: '2026-11-16', calls: 1 },
      ...{ input_tokens: 99, output_tokens: 1, cost_usd: 0.5 },
    },
    { ...row, day: '2026-11-16', calls: 1, input_tokens: 0, output_tokens: 0, cost_usd: 0.125 },
    { ...row, day: '2026-11-17', calls: 2, input_tokens: 30, output_tokens: 2, cost_usd: null },
    {
      ...{ ...row, model: 'p/x', day: '2026-11-17', calls: 1, input_tokens: 5, output_tokens: 6, cached_tokens: 4 },
      cost_usd: 1,
    },
  ])
})
