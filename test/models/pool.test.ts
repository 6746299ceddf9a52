import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/domain/index.js'
import {
  type AnswerPart,
  createModels,
  type ProviderSettings,
  providersSettingsSchema,
} from '../../src/models/index.js'
import type { LoopbackFault, LoopbackStep } from '../support/loopback/index.js'
import { ask, KEY, options, WAYS, type Way } from './lab.js'
import { createClock, must, openPool, told } from './pools-lab.js'

const COMPATIBLE = WAYS.find(({ way }) => way === 'openai-compatible') as Way
const ENV = { OPENAI_API_KEY: 'k1', GOOGLE_GENERATIVE_AI_API_KEY: 'k3' }

function says(text: string): LoopbackStep {
  return { text }
}
function fails(status: number, headers: Record<string, string> = {}, body?: unknown): LoopbackStep {
  const fault: LoopbackFault = { kind: 'status', status, headers, ...(body === undefined ? {} : { body }) }
  return { fault }
}
const seat = (...steps: LoopbackStep[]) => ({ way: COMPATIBLE, steps })

describe('a name', () => {
  const models = createModels({
    env: ENV,
    pools: {
      fast: ['openai/gpt-5-mini', 'google/gemini-2.5-flash'],
      empty: [],
      nested: ['openai/gpt-5', 'fast'],
      prefixed: ['pool/fast'],
      some: ['anthropic/claude-sonnet-4-5', 'nobody/x', 'openai/gpt-5'],
      none: ['anthropic/claude-sonnet-4-5', 'nobody/x', 'gpt-5', 'openai/'],
    },
  })

  test('of a pool, with or without its prefix, is one model', async () => {
    const [short, long] = await Promise.all([models.resolve('fast'), models.resolve('pool/fast')])
    expect([short.ok && short.model.name, long.ok && long.model.name]).toEqual(['pool/fast', 'pool/fast'])
  })

  test('that is none of a pool comes back with those there are', async () => {
    expect(await models.resolve('quick')).toEqual({
      ok: false,
      code: 'bad_name',
      message:
        '"quick" is not a model name: it takes provider/model, such as anthropic/claude-sonnet-4-5 (providers: anthropic, openai, google; pools: fast, empty, nested, prefixed, some, none)',
    })
    expect(await models.resolve('pool/quick')).toEqual({
      ok: false,
      code: 'bad_name',
      message: 'no pool "quick" here, only fast, empty, nested, prefixed, some, none',
    })
    expect(await createModels({ env: ENV }).resolve('pool/fast')).toMatchObject({
      message: 'no pool "fast" here, and no other either',
    })
    expect(await models.resolve('constructor')).toMatchObject({
      message: expect.stringMatching(/^"constructor" is not a model name/),
    })
    expect(await models.resolve('pool/constructor')).toMatchObject({ ok: false, code: 'bad_name' })
  })

  test.each([
    ['empty', 'pool/empty has no models; list at least one, as provider/model'],
    ['nested', 'pool/nested has the pool "fast" in it; a pool lists models, as provider/model'],
    ['prefixed', 'pool/prefixed has the pool "pool/fast" in it; a pool lists models, as provider/model'],
    [
      'none',
      'no model of pool/none can be used: anthropic/claude-sonnet-4-5 needs a key: set ANTHROPIC_API_KEY; nobody/x: no provider "nobody" here, only anthropic, openai, google; gpt-5: "gpt-5" is not a model name: it takes provider/model, such as openai/gpt-5 (providers: anthropic, openai, google; pools: fast, empty, nested, prefixed, some, none); openai/: "openai/" is not a model name: it takes provider/model, such as anthropic/claude-sonnet-4-5 (providers: anthropic, openai, google; pools: fast, empty, nested, prefixed, some, none)',
    ],
  ])('of a pool that cannot work says why (%s)', async (name, message) => {
    expect(await models.resolve(name)).toEqual({ ok: false, code: 'bad_pool', message })
  })

  test('that pools begin with is free for no provider', () => {
    const settings = { type: 'openai' }
    expect(providersSettingsSchema.safeParse({ pools: settings }).success).toBe(true)
    expect(providersSettingsSchema.safeParse({ pool: settings }).success).toBe(false)
  })

  test('of a pool in which some members can be used is a model', async () => {
    expect(await models.resolve('some')).toMatchObject({ ok: true })
  })
})

describe('of its members', () => {
  const mine: ProviderSettings = { type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' }

  test.each([
    [['openai/gpt-5', 'google/gemini-2.5-pro'], 400_000],
    [['openai/gpt-5', 'mine/x'], 400_000],
    [['mine/x', 'small/x', 'openai/gpt-5'], 8192],
    [['mine/x'], null],
    [['anthropic/claude-sonnet-4-5', 'openai/gpt-5'], 400_000],
  ])('%j a pool takes as much as the smallest that can be used: %s', async (members, window) => {
    const providers = { mine, small: { ...mine, context_window: 8192 } }
    const model = await must(createModels({ env: ENV, providers, pools: { p: members } }).resolve('p'))
    expect(model.window).toBe(window)
  })

  test('the dearest makes the price, and one without a price leaves the pool without', async () => {
    const providers: Record<string, ProviderSettings> = {
      mine,
      cheap: { ...mine, prices: { '*': { input: 1, output: 10 } } },
      dear: { ...mine, prices: { '*': { input: 2, output: 3 } } },
    }
    const pools = { both: ['cheap/x', 'dear/x', 'anthropic/claude-sonnet-4-5'], one: ['cheap/x', 'mine/x'] }
    const models = createModels({ env: ENV, providers, pools })
    const usage = { input_tokens: 1e6, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
    const both = await must(models.resolve('both'))
    expect(both.price?.(usage)).toBe(2)
    expect(both.price?.({ ...usage, output_tokens: 1e6 })).toBe(11)
    expect((await must(models.resolve('one'))).price).toBe(undefined)
  })

  test('those that cannot be used are passed over, and the answer says why', async ({ onTestFinished }) => {
    const { models, servers } = await openPool([seat(says('hi'))], onTestFinished)
    const server = servers[0]?.url ?? ''
    const providers: Record<string, ProviderSettings> = { p0: { ...mine, base_url: server } }
    const pools = { team: ['anthropic/claude', 'nobody/x', 'scripted/none.yaml', 'p0/m', 'openai/gpt-5'] }
    const model = await must(createModels({ env: {}, providers, pools }).resolve('team'))
    const answer = await model.generate(ask(), options())
    expect(answer).toMatchObject({
      ok: true,
      answered_by: 'p0/m',
      fell_over: [
        { model: 'anthropic/claude', code: 'auth', message: 'anthropic/claude needs a key: set ANTHROPIC_API_KEY' },
        {
          model: 'nobody/x',
          code: 'bad_request',
          message: 'no provider "nobody" here, only anthropic, openai, google, p0',
        },
        { model: 'scripted/none.yaml', code: 'bad_request', message: expect.stringContaining('none.yaml') },
      ],
    })
    expect(models.available().length).toBeGreaterThan(0)
  })

  test('the cost is that of the one that answered', async ({ onTestFinished }) => {
    const usage = { input_tokens: 1000, output_tokens: 100 }
    const pool = await openPool([seat(fails(503)), seat({ text: 'hi', usage })], onTestFinished)
    const at = (index: number, input: number): ProviderSettings => ({
      ...mine,
      base_url: pool.servers[index]?.url ?? '',
      prices: { m: { input, output: 0 } },
    })
    const providers = { p0: at(0, 500), p1: at(1, 3) }
    const model = await must(createModels({ env: {}, providers, pools: { team: ['p0/m', 'p1/m'] } }).resolve('team'))
    expect(await model.generate(ask(), options())).toMatchObject({ answered_by: 'p1/m', cost_usd: 0.003 })
    expect(model.price?.({ ...usage, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 })).toBe(0.5)
  })
})

describe('a member that failed', () => {
  test('is left out for as long as its server asked', async ({ onTestFinished }) => {
    const clock = createClock()
    const first = seat(fails(429, { 'retry-after': '7' }), says('back'))
    const { model, asked } = await openPool([first, seat(says('a'), says('b'))], onTestFinished, { now: clock.now })
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p1/m', after: ['p0/m rate_limited'] })
    clock.pass(6900)
    const second = await model.generate(ask(), options())
    expect(second).toMatchObject({
      answered_by: 'p1/m',
      fell_over: [
        {
          model: 'p0/m',
          code: 'rate_limited',
          message: expect.stringMatching(/^left out for another 1 s: p0\/m \(HTTP 429\)/),
        },
      ],
    })
    expect(asked()).toEqual([1, 2])
    // A timer that was set for the end of the pause may go off a little early.
    clock.pass(90)
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p0/m', after: [] })
  })

  test('without saying for how long is left out twice as long each time, until it answers', async ({
    onTestFinished,
  }) => {
    const clock = createClock()
    const broken = Array.from({ length: 4 }, () => fails(503))
    const first = seat(...broken, says('back'), fails(503), says('again'))
    const spare = seat(...Array.from({ length: 20 }, () => says('spare')))
    const { model, asked } = await openPool([first, spare], onTestFinished, { now: clock.now })
    const by = async () => told(await model.generate(ask(), options())).by
    for (const pause of [1000, 2000, 4000, 8000]) {
      expect(await by()).toBe('p1/m')
      clock.pass(pause - 100)
      expect(await by()).toBe('p1/m')
      clock.pass(100)
    }
    expect(asked()[0]).toBe(4)
    expect(await by()).toBe('p0/m')
    expect(await by()).toBe('p1/m')
    clock.pass(1000)
    expect(await by()).toBe('p0/m')
  })

  test('because of its key is left out for good', async ({ onTestFinished }) => {
    const clock = createClock()
    const spare = seat(says('a'), says('b'))
    const { model, asked } = await openPool([seat(fails(401), says('never')), spare], onTestFinished, {
      now: clock.now,
    })
    await model.generate(ask(), options())
    clock.pass(1000 * 3_600_000)
    expect(await model.generate(ask(), options())).toMatchObject({
      answered_by: 'p1/m',
      fell_over: [{ model: 'p0/m', code: 'auth', message: expect.stringMatching(/^left out from now on: .*LAB_KEY/) }],
    })
    expect(asked()).toEqual([1, 2])
  })

  test.each([400, 404])('with %s is asked again: another request may be right', async (status) => {
    const closers: (() => Promise<void>)[] = []
    const { model } = await openPool([seat(fails(status), says('yes')), seat(says('a'))], (close) =>
      closers.push(close),
    )
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p1/m', after: ['p0/m bad_request'] })
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p0/m', after: [] })
    for (const close of closers) await close()
  })

  test('with many calls at once has failed once', async ({ onTestFinished }) => {
    const clock = createClock()
    const many = 20
    const first = seat(...Array.from({ length: many }, () => ({ ...fails(503), delay_ms: 50 })), says('back'))
    const spare = seat(...Array.from({ length: many }, () => says('spare')))
    const { model } = await openPool([first, spare], onTestFinished, { now: clock.now })
    const answers = await Promise.all(Array.from({ length: many }, () => model.generate(ask(), options())))
    expect(new Set(answers.map((answer) => told(answer).by))).toEqual(new Set(['p1/m']))
    clock.pass(1000)
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p0/m', after: [] })
  })

  test('in one pool is left out of another that has it too', async ({ onTestFinished }) => {
    const clock = createClock()
    const seats = [seat(fails(503), says('x')), seat(says('a'), says('b'))]
    const pools = { team: ['p0/m', 'p1/m'], other: ['p0/m', 'p1/m'] }
    const { model, models, asked } = await openPool(seats, onTestFinished, { now: clock.now, pools })
    await model.generate(ask(), options())
    const other = await must(models.resolve('other'))
    expect(told(await other.generate(ask(), options()))).toEqual({ by: 'p1/m', after: ['p0/m overloaded'] })
    expect(asked()).toEqual([1, 2])
  })
})

describe('when no member answers', () => {
  test('each is named with its reason, and the wait is until the first is free', async ({ onTestFinished }) => {
    const clock = createClock()
    const refused = { error: { message: `bad key ${KEY}` } }
    const seats = [
      seat(fails(429, { 'retry-after': '60' })),
      seat(fails(529, { 'retry-after': '5' }), says('free')),
      seat(fails(401, {}, refused)),
      seat(fails(400), says('never')),
    ]
    const { model, asked } = await openPool(seats, onTestFinished, { now: clock.now })
    const answer = await model.generate(ask(), options())
    expect(answer).toEqual({
      ok: false,
      code: 'overloaded',
      message:
        'no model of pool/team answered: p0/m (HTTP 429): rate limited: status 429; p1/m (HTTP 529): overloaded or failing: status 529; p2/m (HTTP 401): not allowed: bad key ***; check LAB_KEY; p3/m (HTTP 400): refused the request: status 400',
      retry_after_ms: 5000,
      fell_over: [
        { model: 'p0/m', code: 'rate_limited', message: 'p0/m (HTTP 429): rate limited: status 429' },
        { model: 'p1/m', code: 'overloaded', message: 'p1/m (HTTP 529): overloaded or failing: status 529' },
        { model: 'p2/m', code: 'auth', message: 'p2/m (HTTP 401): not allowed: bad key ***; check LAB_KEY' },
        { model: 'p3/m', code: 'bad_request', message: 'p3/m (HTTP 400): refused the request: status 400' },
      ],
    })
    expect(asked()).toEqual([1, 1, 1, 1])
  })

  test('because all are left out, none is asked and the wait is told', async ({ onTestFinished }) => {
    const clock = createClock()
    const seats = [seat(fails(429, { 'retry-after': '60' })), seat(fails(429, { 'retry-after': '9' }), says('free'))]
    const { model, asked } = await openPool(seats, onTestFinished, { now: clock.now })
    expect(told(await model.generate(ask(), options()))).toEqual({ code: 'rate_limited', retry_after_ms: 9000 })
    clock.pass(2000)
    expect(told(await model.generate(ask(), options()))).toEqual({ code: 'rate_limited', retry_after_ms: 7000 })
    const signal = AbortSignal.abort()
    expect(told(await model.generate(ask(), options({ signal })))).toEqual({ code: 'aborted', retry_after_ms: null })
    expect(asked()).toEqual([1, 1])
    clock.pass(7000)
    expect(told(await model.generate(ask(), options()))).toEqual({ by: 'p1/m', after: ['p0/m rate_limited'] })
  })

  test.each([
    [[401, 401], 'auth'],
    [[401, 400], 'bad_request'],
  ])('and waiting does not help (%j), it is said so: %s', async (statuses, code) => {
    const closers: (() => Promise<void>)[] = []
    const seats = statuses.map((status) => seat(fails(status)))
    const { model } = await openPool(seats, (close) => closers.push(close))
    expect(told(await model.generate(ask(), options()))).toEqual({ code, retry_after_ms: null })
    for (const close of closers) await close()
  })
})

describe('what one provider made', () => {
  const THINKING: LoopbackStep = {
    reasoning: 'Secret thoughts.',
    text: 'Hm.',
    calls: [{ name: 'read_file', args: { path: 'a' } }],
  }
  /** Everything in a body that only its maker can read. */
  const OPAQUE = /signed-|sealed-|rs_0|msg_0|fc_0|thoughtSignature|encrypted_content":"|Secret thoughts/

  function next(parts: AnswerPart[]): Message[] {
    const numbered = parts.map((part) => (part.type === 'tool_call' ? { ...part, call_id: 'c1' } : part))
    const wire_id = parts.flatMap((part) => (part.type === 'tool_call' ? [part.wire_id] : []))[0] ?? ''
    return [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', parts: numbered },
      { role: 'tool', results: [{ call_id: 'c1', wire_id, tool: 'read_file', content: 'one', is_error: false }] },
    ]
  }

  const pairs = WAYS.flatMap((from) => WAYS.map((to) => ({ from: from.way, to: to.way, maker: from, reader: to })))

  describe.each([false, true])('(streamed: %s)', (streamed) => {
    const listening = streamed ? { onDelta: () => {} } : {}

    test.for(pairs)('does not go from $from to $to', async ({ maker, reader }, { onTestFinished }) => {
      const seats = [
        { way: maker, steps: [THINKING, fails(503), says('mine again')] },
        { way: reader, steps: [says('Done.')] },
      ]
      const clock = createClock()
      const { model, servers } = await openPool(seats, onTestFinished, { now: clock.now })
      const first = await model.generate(ask(), options(listening))
      if (!first.ok) throw new Error(first.message)
      const messages = next(first.parts)
      const second = await model.generate(ask(messages), options(listening))
      expect(told(second)).toEqual({ by: 'p1/m', after: ['p0/m overloaded'] })
      const body = JSON.stringify(servers[1]?.requests[0]?.body)
      expect(body).not.toMatch(OPAQUE)
      // The conversation itself is all there: what was said, what was called, what came of it.
      expect(body).toContain('Hm.')
      expect(body).toContain('"read_file"')
      expect(body).toMatch(/"(content|output|result)":"one"|"one"/)

      // And it goes back to its maker.
      clock.pass(1000)
      expect(told(await model.generate(ask(messages), options(listening)))).toEqual({ by: 'p0/m', after: [] })
      const own = JSON.stringify(servers[0]?.requests[2]?.body)
      if (maker.way !== 'openai chat') expect(own).toMatch(OPAQUE)
    })
  })

  test('an answer of nothing but reasoning leaves no empty message behind', async ({ onTestFinished }) => {
    const [anthropic] = WAYS.filter(({ way }) => way === 'anthropic')
    const { model, servers } = await openPool([{ way: anthropic as Way, steps: [says('ok')] }], onTestFinished)
    const messages: Message[] = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm', provider: { other: { signature: 'x' } } }] },
      { role: 'user', content: 'Go on' },
    ]
    expect((await model.generate(ask(messages), options())).ok).toBe(true)
    expect(JSON.stringify(servers[0]?.requests[0]?.body)).not.toContain('assistant')
  })

  test.each([
    ['anthropic', 'functions.read_file:0', 'c1'],
    ['anthropic', 'toolu_01-x', 'toolu_01-x'],
    ['openai chat', 'x'.repeat(41), 'c1'],
    ['openai responses', 'x'.repeat(65), 'c1'],
    ['openai-compatible', 'functions.read_file:0', 'functions.read_file:0'],
  ])('an id that %s would refuse (%s) goes out as %s, with its result', async (name, wire_id, sent) => {
    const closers: (() => Promise<void>)[] = []
    const way = WAYS.find((candidate) => candidate.way === name) as Way
    const { model, servers } = await openPool([{ way, steps: [says('ok')] }], (close) => closers.push(close))
    await model.generate(ask(next([{ type: 'tool_call', wire_id, tool: 'read_file', args: '{}' }])), options())
    const body = JSON.stringify(servers[0]?.requests[0]?.body)
    expect(body.split(`"${sent}"`).length - 1).toBe(2)
    for (const close of closers) await close()
  })
})
