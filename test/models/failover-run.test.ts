import { expect, onTestFinished, test } from 'vitest'
import { createModels, createRetinue, type StoredEvent } from '../../src/index.js'
import type { ProviderSettings } from '../../src/models/index.js'
import { eventBorders, type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'

const READ = { name: 'read_file', args: { path: 'a.txt' } }
const PRICES = {
  first: { '*': { input: 10, output: 100, cached_input: 1 } },
  second: { '*': { input: 2, output: 20 } },
}

/** A run on a pool of two: Anthropic's protocol first, then chat completions. */
async function runOn(first: LoopbackStep[], second: LoopbackStep[], watched = false) {
  const servers = await Promise.all([
    startLoopback({ protocol: 'anthropic', steps: first }),
    startLoopback({ protocol: 'chat', steps: second }),
  ])
  onTestFinished(async () => {
    for (const server of servers) await server.close()
  })
  const providers: Record<string, ProviderSettings> = {
    a: { type: 'anthropic', base_url: servers[0].url, api_key_env: 'KEY', prices: PRICES.first },
    b: { type: 'openai-compatible', base_url: servers[1].url, prices: PRICES.second },
  }
  const models = createModels({
    env: { KEY: 'sk-very-secret' },
    providers,
    pools: { team: ['a/x', 'b/y'] },
    discover: false,
  })
  const retinue = await createRetinue({ cwd: makeProject({ 'a.txt': 'a\n' }), models })
  const shown: string[] = []
  const run = retinue.run({
    task: 'Read a.txt',
    model: 'team',
    budget: { wall_ms: 60_000 },
    ...(watched ? { onDelta: (delta: { type: string; text: string }) => void shown.push(delta.text) } : {}),
  })
  const events: StoredEvent[] = []
  for await (const event of run) events.push(event)
  const result = await run.result()
  await retinue.close()
  expect(JSON.stringify(events)).not.toContain('sk-very-secret')
  const answers = events.flatMap(({ type, data }) =>
    type === 'model.responded'
      ? [
          {
            by: data.answered_by,
            after: data.fell_over.map(({ model, code }) => `${model} ${code}`),
            cost: data.cost_usd,
          },
        ]
      : [],
  )
  const failures = events.flatMap((event) => (event.type === 'model.failed' ? [event] : []))
  return { result, answers, failures, events, servers, shown }
}

test('a run goes on with the next member, and its cost is the sum of what each of them takes', async () => {
  const usage = { input_tokens: 1000, output_tokens: 10, cached_tokens: 400 }
  const { result, answers, servers } = await runOn(
    [
      { reasoning: 'Hm.', text: 'I look.', calls: [READ], usage },
      { fault: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } },
    ],
    [{ text: 'never' }, { calls: [READ], usage }, { text: 'It says a.', usage }],
  )
  expect(result).toMatchObject({ outcome: 'completed', text: 'It says a.' })
  expect(answers).toEqual([
    // 600 × 10 + 400 × 1 + 10 × 100 = 7400 millionths
    { by: 'a/x', after: [], cost: 0.0074 },
    // 1000 × 2 + 10 × 20 = 2200 millionths
    { by: 'b/y', after: ['a/x rate_limited'], cost: 0.0022 },
    { by: 'b/y', after: ['a/x rate_limited'], cost: 0.0022 },
  ])
  expect(result.cost_usd).toBeCloseTo(0.0118, 12)
  expect(servers.map(({ requests }) => requests.length)).toEqual([2, 2])
  expect(JSON.stringify(servers[1].requests.map(({ body }) => body))).not.toMatch(/signed-|Hm\./)
})

test('when all are busy, a run waits until the first is free, as its server asked', async () => {
  const busy = (seconds: string): LoopbackStep => ({
    text: 'Here I am.',
    fault: { kind: 'status', status: 429, headers: { 'retry-after': seconds }, times: 1 },
  })
  const { result, answers, failures, events } = await runOn([busy('2')], [busy('3600')])
  expect(result).toMatchObject({ outcome: 'completed', text: 'Here I am.' })
  expect(failures.map(({ data }) => data.code)).toEqual(['rate_limited'])
  // Counted from the answer of the first, which is a little while ago when the second has failed too.
  const [failure] = failures
  const wait = failure?.data.retry_after_ms ?? 0
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(2000)
  expect(failure?.data.message).toMatch(/^no model of pool\/team answered: a\/x \(HTTP 429\).*; b\/y \(HTTP 429\)/)
  expect(answers).toEqual([{ by: 'a/x', after: [], cost: expect.any(Number) }])
  const asked = events.flatMap((event) => (event.type === 'model.requested' ? [event.at] : []))
  expect((asked[1] ?? 0) - (failure?.at ?? 0)).toBeGreaterThanOrEqual(wait - 20)
})

test('after the first word it is a failure of the call, and the run tries again', async () => {
  const step: LoopbackStep = { text: 'one two three four' }
  const after_bytes = eventBorders('anthropic', step, 0).at(-5) as number
  const { result, answers, failures, shown } = await runOn(
    [{ ...step, fault: { kind: 'cut', after_bytes, how: 'rst' } }],
    [{ text: 'All of it.' }],
    true,
  )
  expect(failures.map(({ data }) => data.code)).toEqual(['network'])
  expect(failures[0]?.data.message).toContain('a/x')
  expect(answers).toEqual([{ by: 'b/y', after: ['a/x network'], cost: expect.any(Number) }])
  expect(result.text).toBe('All of it.')
  expect(shown.join('')).toContain('one ')
})
