import { describe, expect, test } from 'vitest'
import type { ModelError } from '../../src/models/index.js'
import { eventBorders, type LoopbackFault, type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { ask, KEY, options, WAYS, type Way } from './lab.js'
import { createClock, openPool, told } from './pools-lab.js'

const COMPATIBLE = WAYS.find(({ way }) => way === 'openai-compatible') as Way
const SPARE: LoopbackStep = { text: 'I am the spare one.' }
const spare = { way: COMPATIBLE, steps: [SPARE, SPARE, SPARE] }

type Case = { what: string; fault: LoopbackFault; code: ModelError['code']; only?: 'streamed' | 'whole' }

const BEFORE: Case[] = [
  { what: '429 with retry-after', fault: status(429, { 'retry-after': '7' }), code: 'rate_limited' },
  { what: '529', fault: status(529), code: 'overloaded' },
  { what: '503 with retry-after', fault: status(503, { 'retry-after': '3' }), code: 'overloaded' },
  { what: '401', fault: status(401), code: 'auth' },
  { what: '404', fault: status(404), code: 'bad_request' },
  { what: '400', fault: status(400), code: 'bad_request' },
  {
    what: 'a connection cut before anything came',
    fault: { kind: 'cut', after_bytes: 0, how: 'rst' },
    code: 'network',
  },
  {
    what: 'a stream that ends before it began',
    fault: { kind: 'cut', after_bytes: 0, how: 'end' },
    code: 'network',
    only: 'streamed',
  },
  {
    what: 'an answer cut in the middle',
    fault: { kind: 'cut', after_bytes: 40, how: 'fin' },
    code: 'network',
    only: 'whole',
  },
  {
    what: 'an error at the start of a stream',
    fault: { kind: 'stream_error', type: 'overloaded_error', message: 'busy', at_start: true },
    code: 'overloaded',
    only: 'streamed',
  },
  { what: 'no JSON', fault: { kind: 'garbage', body: '<html>' }, code: 'network' },
  { what: 'an empty answer', fault: { kind: 'empty' }, code: 'bad_output' },
  { what: 'no first token in time', fault: { kind: 'stall', after_bytes: 0 }, code: 'network' },
]

function status(code: number, headers: Record<string, string> = {}): LoopbackFault {
  return { kind: 'status', status: code, headers }
}

describe.each(WAYS)('a pool whose first member speaks $way', (way) => {
  describe.each(['whole', 'streamed'] as const)('%s', (how) => {
    const listening = (said: string[]) =>
      how === 'streamed' ? { onDelta: ({ text }: { text: string }) => void said.push(text) } : {}

    test.for(BEFORE.filter(({ only }) => !only || only === how))(
      'falls over after $what',
      async ({ fault, code }, { onTestFinished }) => {
        const seat = { way, steps: [{ text: 'never said', fault }] }
        const idle_timeout_ms = fault.kind === 'stall' ? 300 : 20_000
        const { model, asked } = await openPool([seat, spare], onTestFinished, { idle_timeout_ms })
        const said: string[] = []
        const answer = await model.generate(ask(), options(listening(said)))
        expect(told(answer)).toEqual({ by: 'p1/m', after: [`p0/m ${code}`] })
        expect(answer.ok && answer.parts).toMatchObject([{ type: 'text', text: SPARE.text }])
        expect(said.join('')).toBe(how === 'streamed' ? SPARE.text : '')
        expect(asked()).toEqual([1, 1])
        expect(JSON.stringify(answer)).not.toContain(KEY)
      },
    )

    test('falls over when nobody listens there', async ({ onTestFinished }) => {
      const gone = await startLoopback({ protocol: way.protocol, steps: [] })
      await gone.close()
      const { models } = await openPool([{ way, steps: [] }, spare], onTestFinished, {
        providers: {
          p0: { type: way.type, base_url: gone.url, ...(way.api ? { api: way.api } : {}) },
          p1: { type: 'openai-compatible', base_url: gone.url },
        },
        pools: { team: ['p0/m'], alone: ['p0/m', 'p1/m'] },
        env: { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, GOOGLE_GENERATIVE_AI_API_KEY: KEY },
      })
      const choice = await models.resolve('alone')
      const answer = choice.ok && (await choice.model.generate(ask(), options(listening([]))))
      expect(answer).toMatchObject({
        ok: false,
        code: 'network',
        message: expect.stringMatching(
          /^no model of pool\/alone answered: p0\/m: cannot reach .*; p1\/m: cannot reach /,
        ),
        retry_after_ms: expect.any(Number),
      })
      expect(JSON.stringify(answer)).not.toContain(KEY)
    })
  })

  test.for(['end', 'fin', 'rst'] as const)(
    'does not fall over once a word was shown (%s)',
    async (cut, { onTestFinished }) => {
      const step: LoopbackStep = { text: 'one two three four five' }
      const borders = eventBorders(way.protocol, step, 0)
      const after_bytes = borders.at(-4) as number
      const fault: LoopbackFault = { kind: 'cut', after_bytes, how: cut }
      const { model, asked } = await openPool([{ way, steps: [{ ...step, fault }] }, spare], onTestFinished)
      const said: string[] = []
      const answer = await model.generate(ask(), options({ onDelta: ({ text }) => void said.push(text) }))
      expect(answer).toMatchObject({ ok: false, code: 'network', message: expect.stringContaining('p0/m') })
      expect(said.join('')).toMatch(/^one /)
      expect(asked()).toEqual([1, 0])
    },
  )

  test('does not fall over in the middle of a call, which no delta shows', async ({ onTestFinished }) => {
    // Google sends a call whole: there is no middle.
    if (way.protocol === 'google') return
    const step: LoopbackStep = { calls: [{ name: 'read_file', args: { path: 'a long enough path' } }] }
    const borders = eventBorders(way.protocol, step, 0)
    const begun = borders.findIndex((_, index) => index > 0) + (way.protocol === 'anthropic' ? 2 : 1)
    const fault: LoopbackFault = { kind: 'cut', after_bytes: borders[begun] as number, how: 'end' }
    const { model, asked } = await openPool([{ way, steps: [{ ...step, fault }] }, spare], onTestFinished)
    const said: string[] = []
    const answer = await model.generate(ask(), options({ onDelta: ({ text }) => void said.push(text) }))
    expect(told(answer)).toEqual({ code: 'network', retry_after_ms: null })
    expect(said).toEqual([])
    expect(asked()).toEqual([1, 0])
  })

  test('does not fall over when the request is too large', async ({ onTestFinished }) => {
    const fault: LoopbackFault = {
      kind: 'status',
      status: 400,
      body: {
        error: { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' },
      },
    }
    const { model, asked } = await openPool([{ way, steps: [{ fault }] }, spare], onTestFinished)
    expect(told(await model.generate(ask(), options()))).toEqual({ code: 'context_overflow', retry_after_ms: null })
    expect(asked()).toEqual([1, 0])
  })
})

test('the signal ends a call at once, and the next member is not asked', async ({ onTestFinished }) => {
  const silent = { way: COMPATIBLE, steps: [{ text: 'x', delay_ms: 60_000 }] }
  const { model, servers, asked } = await openPool([silent, spare], onTestFinished)
  const stop = new AbortController()
  const answer = model.generate(ask(), options({ signal: stop.signal }))
  await expect.poll(() => servers[0]?.requests.length).toBe(1)
  stop.abort()
  expect(told(await answer)).toEqual({ code: 'aborted', retry_after_ms: null })
  expect(asked()).toEqual([1, 0])
  expect(told(await model.generate(ask(), options({ signal: stop.signal })))).toMatchObject({ code: 'aborted' })
  expect(asked()).toEqual([1, 0])
})

test('a member that was silent until the caller gave up is left out of the next try', async ({ onTestFinished }) => {
  const clock = createClock()
  const silent = { way: COMPATIBLE, steps: [{ text: 'x', delay_ms: 60_000 }] }
  const { model, servers } = await openPool([silent, spare], onTestFinished, {
    now: clock.now,
    idle_timeout_ms: 120_000,
  })
  const stop = new AbortController()
  const answer = model.generate(ask(), options({ signal: stop.signal }))
  await expect.poll(() => servers[0]?.requests.length).toBe(1)
  clock.pass(600_000)
  stop.abort()
  expect(told(await answer)).toEqual({ code: 'aborted', retry_after_ms: null })
  // What kept the caller waiting for minutes is left out for minutes.
  clock.pass(200_000)
  expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p1/m', after: ['p0/m network'] })
})
