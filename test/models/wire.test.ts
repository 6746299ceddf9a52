import { afterEach, describe, expect, test } from 'vitest'
import type { Message } from '../../src/domain/index.js'
import type { AnswerPart } from '../../src/models/index.js'
import { type Loopback, type LoopbackStep, type ProtocolName, startLoopback } from '../support/loopback/index.js'
import { ask, openModel, options, READ_FILE, WAYS } from './lab.js'

let servers: Loopback[] = []
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()))
  servers = []
})

async function start(protocol: ProtocolName, steps: LoopbackStep[]): Promise<Loopback> {
  const server = await startLoopback({ protocol, steps })
  servers.push(server)
  return server
}

const STEPS: LoopbackStep[] = [
  {
    text: 'I will look – “quoted”, 日本語, 🎉.',
    calls: [
      { name: 'read_file', args: { path: 'src/a.txt' } },
      { name: 'read_file', args: { path: 'b "c".txt', deep: { list: [1, null, true] } } },
    ],
    usage: { input_tokens: 120, output_tokens: 30, cached_tokens: 100, reasoning_tokens: 12 },
  },
  { text: 'Done.\nReally done.', usage: { input_tokens: 200, output_tokens: 7 } },
]

function withoutProvider(parts: AnswerPart[]) {
  return parts.map(({ provider: _, ...part }) => part)
}

/** What the runtime makes of an answer. */
function toMessage(parts: AnswerPart[]): Message {
  const numbered = parts.map((part, index) => (part.type === 'tool_call' ? { ...part, call_id: `c${index}` } : part))
  return { role: 'assistant', parts: numbered }
}

function results(...contents: string[]): Message {
  return {
    role: 'tool',
    results: contents.map((content, index) => ({
      call_id: `c${index}`,
      wire_id: `call_0_${index}`,
      tool: 'read_file',
      content,
      is_error: index === 1,
    })),
  }
}

describe.each(WAYS)('over $way', (way) => {
  describe.each([{ streamed: false }, { streamed: true }])('streamed: $streamed', ({ streamed }) => {
    const listening = () => (streamed ? { onDelta: () => {} } : {})

    test('the same answer is the same parts, usage and reason', async () => {
      const server = await start(way.protocol, STEPS)
      const model = await openModel(way, server.url)
      const first = await model.generate(ask(), options(listening()))
      expect(first.ok && { ...first, parts: withoutProvider(first.parts) }).toEqual({
        ok: true,
        model: 'loopback-1',
        parts: [
          { type: 'text', text: 'I will look – “quoted”, 日本語, 🎉.' },
          { type: 'tool_call', wire_id: 'call_0_0', tool: 'read_file', args: '{"path":"src/a.txt"}' },
          {
            type: 'tool_call',
            wire_id: 'call_0_1',
            tool: 'read_file',
            args: '{"path":"b \\"c\\".txt","deep":{"list":[1,null,true]}}',
          },
        ],
        finish_reason: 'tool_calls',
        usage: {
          input_tokens: 120,
          output_tokens: 30,
          cached_tokens: 100,
          cache_write_tokens: 0,
          reasoning_tokens: 12,
        },
        cost_usd: null,
      })
      if (!first.ok) return
      const messages: Message[] = [{ role: 'user', content: 'Hello' }, toMessage(first.parts), results('one', 'two')]
      const second = await model.generate(ask(messages), options(listening()))
      expect(second.ok && [withoutProvider(second.parts), second.finish_reason]).toEqual([
        [{ type: 'text', text: 'Done.\nReally done.' }],
        'stop',
      ])
      expect(server.requests.map(({ turn, stream }) => ({ turn, stream }))).toEqual([
        { turn: 0, stream: streamed },
        { turn: 1, stream: streamed },
      ])
    })

    test('pieces of a few bytes make no difference', async () => {
      const server = await start(way.protocol, [{ ...(STEPS[0] as LoopbackStep), piece_bytes: 5 }, ...STEPS])
      const model = await openModel(way, server.url)
      const pieces = await model.generate(ask(), options(listening()))
      const plain = await start(way.protocol, STEPS)
      expect(pieces).toEqual(await (await openModel(way, plain.url)).generate(ask(), options(listening())))
    })

    test('arguments that are no JSON come as the model wrote them, and go back as an empty object', async () => {
      if (!streamed && (way.protocol === 'anthropic' || way.protocol === 'google')) return
      if (way.protocol === 'google') return
      const server = await start(way.protocol, [
        { calls: [{ name: 'read_file', args: '{"path": "a' }] },
        { text: 'ok' },
      ])
      const model = await openModel(way, server.url)
      const answer = await model.generate(ask(), options(listening()))
      expect(answer.ok && withoutProvider(answer.parts)).toEqual([
        { type: 'tool_call', wire_id: 'call_0_0', tool: 'read_file', args: '{"path": "a' },
      ])
      if (!answer.ok) return
      const messages: Message[] = [{ role: 'user', content: 'Hello' }, toMessage(answer.parts), results('not JSON')]
      expect((await model.generate(ask(messages), options(listening()))).ok).toBe(true)
      const sent = JSON.stringify(server.requests[1]?.body)
      expect(sent).not.toContain('\\"a')
      expect(sent).toMatch(/"(arguments|input|args)":("\{\}"|\{\})/)
    })

    test('a call without arguments has an empty object', async () => {
      const server = await start(way.protocol, [
        { calls: [{ name: 'read_file', args: way.type === 'google' ? {} : '' }] },
      ])
      const answer = await (await openModel(way, server.url)).generate(ask(), options(listening()))
      const call = answer.ok ? answer.parts[0] : null
      expect(call?.type === 'tool_call' && call.args).toBe('{}')
    })

    test('calls that came in spite of tool_choice none are dropped', async () => {
      const server = await start(way.protocol, STEPS)
      const model = await openModel(way, server.url)
      const answer = await model.generate(ask(undefined, { tool_choice: 'none' }), options(listening()))
      expect(answer.ok && [withoutProvider(answer.parts), answer.finish_reason]).toEqual([
        [{ type: 'text', text: 'I will look – “quoted”, 日本語, 🎉.' }],
        'stop',
      ])
      const sent = JSON.stringify(server.requests[0]?.body)
      expect(sent).toContain('"name":"read_file"')
      expect(sent).toMatch(/"tool_choice":("none"|\{"type":"none"\})|"mode":"NONE"/)
    })

    test('only calls in spite of tool_choice none are an empty answer', async () => {
      const server = await start(way.protocol, [{ calls: [{ name: 'read_file', args: {} }] }])
      const model = await openModel(way, server.url)
      expect(await model.generate(ask(undefined, { tool_choice: 'none' }), options(listening()))).toEqual({
        ok: false,
        code: 'bad_output',
        message: 'lab/gpt-5 gave an empty answer: it called tools where it was told not to',
        retry_after_ms: null,
      })
    })

    test('an answer that ran out of tokens says so', async () => {
      const server = await start(way.protocol, [{ text: 'half a', finish: 'length' }])
      const request = ask(undefined, { max_output_tokens: 77 })
      const answer = await (await openModel(way, server.url)).generate(request, options(listening()))
      expect(answer.ok && answer.finish_reason).toBe('length')
      expect(JSON.stringify(server.requests[0]?.body)).toContain(':77')
    })

    test('an answer held back by a filter is a refusal, an empty one bad output', async () => {
      const server = await start(way.protocol, [{ finish: 'content_filter' }])
      const model = await openModel(way, server.url)
      expect(await model.generate(ask(), options(listening()))).toMatchObject({ ok: false, code: 'bad_request' })
      const silent = await start(way.protocol, [{ text: 'x', fault: { kind: 'empty' } }])
      expect(await (await openModel(way, silent.url)).generate(ask(), options(listening()))).toMatchObject({
        ok: false,
        code: 'bad_output',
        message: 'lab/gpt-5 gave an empty answer: no text and no tool calls',
      })
    })

    test('no tools, no tool choice', async () => {
      const server = await start(way.protocol, [{ text: 'hi' }])
      const request = ask(undefined, { tools: [], tool_choice: 'none' })
      expect((await (await openModel(way, server.url)).generate(request, options(listening()))).ok).toBe(true)
      expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/tool_choice|toolConfig|"tools"/)
    })
  })

  test('deltas put together are the text', async () => {
    const server = await start(way.protocol, STEPS)
    const said: string[] = []
    await (await openModel(way, server.url)).generate(ask(), options({ onDelta: ({ text }) => said.push(text) }))
    expect(said.join('')).toBe(STEPS[0]?.text)
    expect(said.length).toBeGreaterThan(3)
  })

  test('a message or list of tools that was sent before is not converted again', async () => {
    const server = await start(way.protocol, [{ text: 'one' }, { text: 'two' }])
    const model = await openModel(way, server.url)
    let reads = 0
    const user: Message = {
      role: 'user',
      get content() {
        reads += 1
        return 'Hello'
      },
    }
    await model.generate(ask([user]), options())
    await model.generate(ask([user]), options())
    expect(reads).toBe(1)
  })

  test('the key goes to the server, as its header', async () => {
    const server = await start(way.protocol, [{ text: 'one' }])
    await (await openModel(way, server.url, { headers: { 'x-extra': 'yes' } })).generate(ask(), options())
    const headers = server.requests[0]?.headers ?? {}
    const name = { anthropic: 'x-api-key', google: 'x-goog-api-key' }[way.type as string] ?? 'authorization'
    expect(headers[name]).toMatch(/sk-very-secret-key-0123456789$/)
    expect(headers['x-extra']).toBe('yes')
  })
})

describe('what only one provider has', () => {
  const THINKING: LoopbackStep[] = [
    { reasoning: 'Let me think.', text: 'Hm.', calls: [{ name: 'read_file', args: { path: 'a' } }] },
    { text: 'Done.' },
  ]

  async function twoTurns(way: string, streamed: boolean, steps = THINKING) {
    const found = WAYS.find((candidate) => candidate.way === way)
    if (!found) throw new Error(way)
    const server = await start(found.protocol, steps)
    const model = await openModel(found, server.url)
    const listening = streamed ? { onDelta: () => {} } : {}
    const first = await model.generate(ask(), options(listening))
    if (!first.ok) throw new Error(first.message)
    const messages: Message[] = [{ role: 'user', content: 'Hello' }, toMessage(first.parts), results('one')]
    const second = await model.generate(ask(messages), options(listening))
    if (!second.ok) throw new Error(second.message)
    return { parts: first.parts, bodies: server.requests.map((request) => request.body) }
  }

  test.each([false, true])(
    'Anthropic gets its signed thinking back, and marks for its cache (streamed: %s)',
    async (streamed) => {
      const { parts, bodies } = await twoTurns('anthropic', streamed)
      expect(parts[0]).toEqual({
        type: 'reasoning',
        text: 'Let me think.',
        provider: { lab: { signature: 'signed-0' } },
      })
      const cache_control = { type: 'ephemeral' }
      expect(bodies[1]).toMatchObject({
        system: [{ type: 'text', text: 'You are a test.', cache_control }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Let me think.', signature: 'signed-0' },
              { type: 'text', text: 'Hm.' },
              { type: 'tool_use', id: 'call_0_0', name: 'read_file', input: { path: 'a' } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0_0', content: 'one', cache_control }] },
        ],
      })
      expect(JSON.stringify(bodies[1]).match(/cache_control/g)).toHaveLength(3)
    },
  )

  test.each([false, true])(
    'OpenAI stores nothing and gets its sealed reasoning back (streamed: %s)',
    async (streamed) => {
      const { parts, bodies } = await twoTurns('openai responses', streamed)
      expect(parts[0]).toMatchObject({
        type: 'reasoning',
        text: 'Let me think.',
        provider: { lab: { itemId: 'rs_0', reasoningEncryptedContent: 'sealed-0' } },
      })
      expect(bodies[1]).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
      expect(bodies[1]?.tools).toMatchObject([{ type: 'function', name: 'read_file', strict: false }])
      expect(bodies[1]?.input).toMatchObject([
        { role: 'developer' },
        { role: 'user' },
        { type: 'reasoning', encrypted_content: 'sealed-0', summary: [{ text: 'Let me think.' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Hm.' }] },
        { type: 'function_call', call_id: 'call_0_0', name: 'read_file', arguments: '{"path":"a"}' },
        { type: 'function_call_output', call_id: 'call_0_0', output: 'one' },
      ])
      expect(JSON.stringify(bodies[1])).not.toMatch(/previous_response_id|item_reference/)
    },
  )

  test.each([false, true])('Google gets its signatures back (streamed: %s)', async (streamed) => {
    const { parts, bodies } = await twoTurns('google', streamed)
    expect(parts.map((part) => part.type)).toEqual(['reasoning', 'text', 'tool_call'])
    expect(parts[2]?.provider).toEqual({ lab: { thoughtSignature: 'signed-0' } })
    expect(JSON.stringify(bodies[1])).toContain('"thoughtSignature":"signed-0"')
  })

  test.each([false, true])('a compatible server gets its reasoning back (streamed: %s)', async (streamed) => {
    const { parts, bodies } = await twoTurns('openai-compatible', streamed)
    expect(parts[0]).toEqual({ type: 'reasoning', text: 'Let me think.', provider: { lab: {} } })
    expect(JSON.stringify(bodies[1])).toContain('"reasoning_content":"Let me think."')
  })

  test('Anthropic counts what it writes to its cache', async () => {
    const usage = { input_tokens: 100, output_tokens: 5, cached_tokens: 60, cache_write_tokens: 30 }
    const server = await start('anthropic', [{ text: 'hi', usage }])
    const anthropic = WAYS.find(({ way }) => way === 'anthropic')
    const answer = anthropic && (await (await openModel(anthropic, server.url)).generate(ask(), options()))
    expect(answer?.ok && answer.usage).toEqual({ ...usage, reasoning_tokens: 0 })
  })

  test('calls that a server gave one id are told apart', async () => {
    const calls = [0, 1].map((n) => ({ name: 'read_file', args: { n }, id: n === 0 ? 'same' : 'same' }))
    const server = await start('chat', [{ calls }])
    const compatible = WAYS.find(({ way }) => way === 'openai-compatible')
    const answer = compatible && (await (await openModel(compatible, server.url)).generate(ask(), options()))
    const ids = answer?.ok ? answer.parts.map((part) => part.type === 'tool_call' && part.wire_id) : []
    expect(ids).toEqual(['same', 'same_1'])
  })

  test('tools are sent as they are', async () => {
    const server = await start('chat', [{ text: 'hi' }])
    const compatible = WAYS.find(({ way }) => way === 'openai-compatible')
    if (compatible) await (await openModel(compatible, server.url)).generate(ask(), options())
    const { name, description, parameters } = READ_FILE
    expect(server.requests[0]?.body.tools).toEqual([{ type: 'function', function: { name, description, parameters } }])
  })
})
