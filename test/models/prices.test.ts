import { describe, expect, test } from 'vitest'
import type { Usage } from '../../src/domain/index.js'
import {
  createModels,
  type ModelsOptions,
  type ProviderSettings,
  providerSettingsSchema,
} from '../../src/models/index.js'
import { createTransport } from '../../src/models/transport.js'
import { type ProtocolName, startLoopback } from '../support/loopback/index.js'
import { ask, options } from './lab.js'
import { createClock, must } from './pools-lab.js'

const ENV = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k', ROUTER_KEY: 'k' }
const NOTHING: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}
const PROVIDERS: Record<string, ProviderSettings> = {
  openrouter: { type: 'openai-compatible', base_url: 'https://openrouter.ai/api/v1', api_key_env: 'ROUTER_KEY' },
  deepseek: { type: 'openai-compatible', base_url: 'https://api.deepseek.com/v1', api_key_env: 'ROUTER_KEY' },
  groq: { type: 'openai-compatible', base_url: 'https://api.groq.com/openai/v1', api_key_env: 'ROUTER_KEY' },
  mine: {
    type: 'openai-compatible',
    base_url: 'http://127.0.0.1:9/v1',
    prices: {
      big: { input: 2, output: 8, cached_input: 0.5, cache_write: 2.5 },
      plain: { input: 2, output: 8 },
      '*': { input: 0, output: 0 },
    },
  },
  local: { type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' },
}

function open(name: string, more: Partial<ModelsOptions> = {}) {
  return must(createModels({ env: ENV, providers: PROVIDERS, ...more }).resolve(name))
}

/** A call to the real address of a service, which arrives at a server of our own that speaks its protocol. */
async function costOf(name: string, protocol: ProtocolName, usage: Partial<Usage>, streamed: boolean, at: string) {
  const server = await startLoopback({ protocol, steps: [{ text: 'hi', usage }] })
  const transport = createTransport()
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname, search } = new URL(String(input))
    const path = pathname.replace(/^\/(api|openai)(?=\/v1)/, '')
    return transport(`http://127.0.0.1:${server.port}${path}${search}`, init)
  }
  const model = await open(name, { fetch, now: createClock(Date.parse(at)).now })
  const answer = await model.generate(ask(), options(streamed ? { onDelta: () => {} } : {}))
  await server.close()
  if (!answer.ok) throw new Error(answer.message)
  return { usage: answer.usage, cost: answer.cost_usd, price: model.price?.(answer.usage) }
}

describe.each([false, true])('a call costs what the table says (streamed: %s)', (streamed) => {
  // Dollars per million tokens, as the table that is installed has them, and the sums worked out by hand.
  test.each([
    {
      what: 'OpenAI gpt-5: input 1.25, cached 0.125, output 10; reasoning is output',
      name: 'openai/gpt-5-2025-08-07',
      protocol: 'responses' as const,
      usage: { input_tokens: 10_000, cached_tokens: 6_000, output_tokens: 2_000, reasoning_tokens: 1_500 },
      // 4000 × 1.25 + 6000 × 0.125 + 2000 × 10 = 5000 + 750 + 20000
      dollars: 0.02575,
    },
    {
      what: 'Anthropic claude-sonnet-4-5: input 3, cached 0.3, written 3.75, output 15',
      name: 'anthropic/claude-sonnet-4-5-20250929',
      protocol: 'anthropic' as const,
      usage: {
        input_tokens: 10_000,
        cached_tokens: 6_000,
        cache_write_tokens: 3_000,
        output_tokens: 1_000,
        reasoning_tokens: 400,
      },
      // 1000 × 3 + 6000 × 0.3 + 3000 × 3.75 + 1000 × 15 = 3000 + 1800 + 11250 + 15000
      dollars: 0.03105,
    },
    {
      what: 'Anthropic claude-sonnet-4-5 beyond 200,000 tokens: input 6, cached 0.6, written 7.5, output 22.5',
      name: 'anthropic/claude-sonnet-4-5',
      protocol: 'anthropic' as const,
      usage: { input_tokens: 210_000, cached_tokens: 100_000, cache_write_tokens: 10_000, output_tokens: 1_000 },
      // 100000 × 6 + 100000 × 0.6 + 10000 × 7.5 + 1000 × 22.5 = 600000 + 60000 + 75000 + 22500
      dollars: 0.7575,
    },
    {
      what: 'Google gemini-2.5-pro: input 1.25, cached 0.125, output 10; thoughts are output',
      name: 'google/gemini-2.5-pro',
      protocol: 'google' as const,
      usage: { input_tokens: 20_000, cached_tokens: 8_000, output_tokens: 3_000, reasoning_tokens: 2_500 },
      // 12000 × 1.25 + 8000 × 0.125 + 3000 × 10 = 15000 + 1000 + 30000
      dollars: 0.046,
    },
    {
      what: 'Google gemini-2.5-pro beyond 200,000 tokens: input 2.5, cached 0.25, output 15',
      name: 'google/models/gemini-2.5-pro',
      protocol: 'google' as const,
      usage: { input_tokens: 200_001, cached_tokens: 1, output_tokens: 1_000, reasoning_tokens: 0 },
      // 200000 × 2.5 + 1 × 0.25 + 1000 × 15 = 500000 + 0.25 + 15000
      dollars: 0.51500025,
    },
    {
      what: 'OpenRouter anthropic/claude-sonnet-4.5: input 3, cached 0.3, output 15',
      name: 'openrouter/anthropic/claude-sonnet-4.5',
      protocol: 'chat' as const,
      usage: { input_tokens: 5_000, cached_tokens: 4_000, output_tokens: 300, reasoning_tokens: 100 },
      // 1000 × 3 + 4000 × 0.3 + 300 × 15 = 3000 + 1200 + 4500
      dollars: 0.0087,
    },
    {
      what: 'DeepSeek deepseek-chat by day: input 0.27, cached 0.07, output 1.1',
      name: 'deepseek/deepseek-chat',
      protocol: 'chat' as const,
      usage: { input_tokens: 100_000, cached_tokens: 90_000, output_tokens: 1_000 },
      // 10000 × 0.27 + 90000 × 0.07 + 1000 × 1.1 = 2700 + 6300 + 1100
      dollars: 0.0101,
    },
    {
      what: 'DeepSeek deepseek-chat by night: half of it',
      name: 'deepseek/deepseek-chat',
      protocol: 'chat' as const,
      at: '2026-11-16T20:00:00Z',
      usage: { input_tokens: 100_000, cached_tokens: 90_000, output_tokens: 1_000 },
      dollars: 0.00505,
    },
    {
      what: 'OpenAI o3 before it became cheaper: input 10, output 40',
      name: 'openai/o3',
      protocol: 'responses' as const,
      at: '2025-06-09T12:00:00Z',
      usage: { input_tokens: 1_000, output_tokens: 1_000, reasoning_tokens: 900 },
      dollars: 0.05,
    },
    {
      what: 'OpenAI o3 since: input 2, output 8',
      name: 'openai/o3',
      protocol: 'responses' as const,
      usage: { input_tokens: 1_000, output_tokens: 1_000, reasoning_tokens: 900 },
      dollars: 0.01,
    },
    {
      what: 'a configured one: input 2, cached 0.5, output 8',
      name: 'mine/big',
      protocol: 'chat' as const,
      usage: { input_tokens: 10_000, cached_tokens: 6_000, output_tokens: 1_000, reasoning_tokens: 250 },
      // 4000 × 2 + 6000 × 0.5 + 1000 × 8 = 8000 + 3000 + 8000
      dollars: 0.019,
    },
  ])('$what', async ({ name, protocol, usage, dollars, at = '2026-11-16T12:00:00Z' }) => {
    const paid = await costOf(name, protocol, usage, streamed, at)
    expect(paid.usage).toEqual({ ...NOTHING, ...usage })
    expect(paid.cost).toBeCloseTo(dollars, 12)
    expect(paid.price).toBe(paid.cost)
  })
})

describe('usage means the same for all', () => {
  async function usageOf(usage: object): Promise<Usage> {
    const answer = {
      id: 'x',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage,
    }
    const fetch: typeof globalThis.fetch = async () => Response.json(answer)
    const given = await (await open('local/m', { fetch })).generate(ask(), options())
    if (!given.ok) throw new Error(given.message)
    return given.usage
  }

  test.each([
    [
      'xAI counts reasoning beside the output',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 310,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
      { ...NOTHING, input_tokens: 100, output_tokens: 210, reasoning_tokens: 200 },
    ],
    [
      'others within it',
      {
        prompt_tokens: 100,
        completion_tokens: 210,
        total_tokens: 310,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
      { ...NOTHING, input_tokens: 100, output_tokens: 210, reasoning_tokens: 200 },
    ],
    [
      'DeepSeek has a name of its own for what was cached',
      { prompt_tokens: 100, completion_tokens: 10, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { ...NOTHING, input_tokens: 100, output_tokens: 10, cached_tokens: 64 },
    ],
    [
      'OpenRouter tells what was written to a cache',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 30 },
      },
      { ...NOTHING, input_tokens: 100, output_tokens: 10, cached_tokens: 50, cache_write_tokens: 30 },
    ],
  ])('%s', async (_, usage, expected) => {
    expect(await usageOf(usage)).toEqual(expected)
  })
})

describe('a configured price', () => {
  const million: Usage = { ...NOTHING, input_tokens: 1_000_000, output_tokens: 1_000_000 }

  test.each<[string, Partial<Usage>, number]>([
    ['mine/big', {}, 10],
    ['mine/big', { cached_tokens: 400_000, cache_write_tokens: 200_000 }, 0.8 + 0.2 + 0.5 + 8],
    ['mine/plain', { cached_tokens: 400_000, cache_write_tokens: 200_000 }, 10],
    ['mine/big', { reasoning_tokens: 999_999 }, 10],
    ['mine/other', {}, 0],
  ])('of %s with %j is %s', async (name, usage, dollars) => {
    expect((await open(name)).price?.({ ...million, ...usage })).toBeCloseTo(dollars, 12)
  })

  test('wins over the table', async () => {
    const providers: Record<string, ProviderSettings> = {
      openai: { type: 'openai', prices: { 'gpt-5': { input: 7, output: 0 } } },
    }
    expect((await open('openai/gpt-5', { providers })).price?.(million)).toBe(7)
    expect((await open('openai/gpt-5-mini', { providers })).price?.(million)).toBe(2.25)
  })

  test('takes nothing but amounts', () => {
    const settings = (price: object) => ({ type: 'openai', prices: { x: price } })
    expect(providerSettingsSchema.safeParse(settings({ input: 0, output: 0 })).success).toBe(true)
    for (const bad of [
      { input: 1 },
      { input: -1, output: 1 },
      { input: 1, output: 1, cached: 1 },
      { input: '1', output: 1 },
    ]) {
      expect(providerSettingsSchema.safeParse(settings(bad)).success).toBe(false)
    }
  })
})

describe('a price is not known', () => {
  const at = (base_url: string): Record<string, ProviderSettings> => ({ x: { type: 'openai-compatible', base_url } })
  test.each<[string, Record<string, ProviderSettings>]>([
    ['openai/no-such-model', {}],
    ['openai/ft:gpt-4o:me', {}],
    ['local/gpt-5', PROVIDERS],
    ['x/gpt-5', at('http://localhost:1234/v1')],
    ['x/gpt-5', at('http://[::1]:1234/v1')],
    ['x/gpt-5', at('http://10.1.2.3/v1')],
    ['x/gpt-5', at('http://gpu/v1')],
    ['x/gpt-5', at('https://llm.example.com/v1')],
    ['openai/gpt-5', { openai: { type: 'openai', base_url: 'https://llm.example.com/v1' } }],
    ['groq/no-such-model', PROVIDERS],
  ])('of %s with %j', async (name, providers) => {
    expect((await open(name, { providers })).price).toBe(undefined)
  })

  test('so the cost of a call is not, and neither where the server did not count', async () => {
    const server = await startLoopback({
      protocol: 'chat',
      steps: [{ text: 'hi', usage: { input_tokens: 0, output_tokens: 0 } }],
    })
    const at = { type: 'openai-compatible' as const, base_url: server.url }
    const providers: Record<string, ProviderSettings> = {
      free: { ...at, prices: { '*': { input: 1, output: 1 } } },
      unknown: at,
    }
    for (const name of ['free/x', 'unknown/x']) {
      const answer = await (await open(name, { providers })).generate(ask(), options())
      expect(answer).toMatchObject({ ok: true, cost_usd: null })
    }
    await server.close()
  })

  test('but where the name says that it is free, it is zero', async () => {
    expect((await open('openrouter/deepseek/deepseek-chat:free')).price?.({ ...NOTHING, input_tokens: 9 })).toBe(0)
  })
})

test('parts that are larger than the whole are taken as they are', async () => {
  const model = await open('openai/gpt-5')
  const odd: Usage = {
    ...NOTHING,
    input_tokens: 10,
    cached_tokens: 1_000_000,
    output_tokens: 1,
    reasoning_tokens: 100_000,
  }
  expect(model.price?.(odd)).toBeCloseTo(0.125 + 1, 12)
})

test.each(['groq/openai/gpt-oss-120b', 'openai/gpt-4o-2024-08-06', 'anthropic/claude-3-5-haiku-latest'])(
  '%s has a price',
  async (name) => {
    expect((await open(name)).price?.({ ...NOTHING, input_tokens: 1 })).toBeGreaterThan(0)
  },
)
