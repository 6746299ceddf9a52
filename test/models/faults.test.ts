import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { ModelAnswer, ProviderSettings } from '../../src/models/index.js'
import { type Loopback, type LoopbackFault, type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { ask, KEY, openModel, options, WAYS, type Way } from './lab.js'

let servers: Loopback[] = []
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()))
  servers = []
})

async function start(way: Way, step: LoopbackStep): Promise<Loopback> {
  const server = await startLoopback({ protocol: way.protocol, steps: () => step })
  servers.push(server)
  return server
}

async function fail(way: Way, fault: LoopbackFault, streamed: boolean, more: Partial<ProviderSettings> = {}) {
  const server = await start(way, { text: 'a few words', fault })
  const model = await openModel(way, server.url, more)
  const answer = await model.generate(ask(), options(streamed ? { onDelta: () => {} } : {}))
  expect(answer.ok).toBe(false)
  expect(JSON.stringify(answer)).not.toContain(KEY)
  if (!answer.ok) expect(answer.message.length).toBeLessThanOrEqual(500)
  return { answer, server }
}

const BOTH = WAYS.flatMap((way) => [
  { ...way, streamed: false },
  { ...way, streamed: true },
])

function way(name: string): Way {
  return WAYS.find((candidate) => candidate.way === name) as Way
}

describe.each(BOTH)('over $way, streamed: $streamed', ({ streamed, ...way }) => {
  test.each([
    [400, 'bad_request'],
    [401, 'auth'],
    [402, 'auth'],
    [403, 'auth'],
    [404, 'bad_request'],
    [408, 'overloaded'],
    [413, 'context_overflow'],
    [422, 'bad_request'],
    [429, 'rate_limited'],
    [500, 'overloaded'],
    [502, 'overloaded'],
    [503, 'overloaded'],
    [504, 'overloaded'],
    [529, 'overloaded'],
  ])('status %i is %s', async (status, code) => {
    const { answer } = await fail(way, { kind: 'status', status }, streamed)
    expect(answer).toMatchObject({ code, retry_after_ms: null })
    expect(!answer.ok && answer.message).toContain(`lab/gpt-5 (HTTP ${status})`)
  })

  test('a page instead of an answer is bad output, as an error it is what its status says', async () => {
    const page = '<!DOCTYPE html><html><title>Bad gateway</title></html>'
    expect((await fail(way, { kind: 'status', status: 502, body: page }, streamed)).answer).toMatchObject({
      code: 'overloaded',
    })
    const { answer } = await fail(way, { kind: 'garbage', body: page }, streamed)
    expect(answer).toMatchObject({ code: streamed ? 'network' : 'bad_output' })
    if (!streamed) expect(!answer.ok && answer.message).toContain('a web page; check the base URL')
  })

  test('what cannot be read is bad output', async () => {
    const { answer } = await fail(way, { kind: 'garbage' }, streamed)
    expect(answer).toMatchObject({ code: 'bad_output' })
    expect(!answer.ok && answer.message).toContain('{"half":')
  })

  test('nobody there is a network fault that names the host', async () => {
    const closed = await start(way, { text: 'x' })
    await closed.close()
    const answer = await (await openModel(way, closed.url)).generate(ask(), options(streamed ? { onDelta() {} } : {}))
    expect(answer).toMatchObject({ ok: false, code: 'network' })
    expect(!answer.ok && answer.message).toMatch(/^cannot reach 127\.0\.0\.1:\d+: .*ECONNREFUSED/)
  })

  test('an aborted call is aborted, and closes the connection', async () => {
    const server = await start(way, { text: 'a few words', fault: { kind: 'stall', after_bytes: 20 } })
    const model = await openModel(way, server.url)
    const controller = new AbortController()
    const call = model.generate(ask(), options({ signal: controller.signal, ...(streamed ? { onDelta() {} } : {}) }))
    await until(() => server.requests.length === 1)
    controller.abort()
    expect(await call).toEqual({
      ok: false,
      code: 'aborted',
      message: 'the call to lab/gpt-5 was cancelled',
      retry_after_ms: null,
    })
    await until(() => server.requests[0]?.aborted === true)
  })

  test('a signal that was aborted before makes no request', async () => {
    const server = await start(way, { text: 'x' })
    const model = await openModel(way, server.url)
    expect(await model.generate(ask(), options({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' })
    expect(server.requests).toEqual([])
  })

  test('nothing of a call stays on the signal', async () => {
    const server = await start(way, { text: 'x' })
    const model = await openModel(way, server.url)
    const { signal } = new AbortController()
    const added: unknown[] = []
    const removed: unknown[] = []
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      added.push(args[1])
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      removed.push(args[1])
      removeEventListener.apply(signal, args)
    }
    await model.generate(ask(), options({ signal }))
    expect(removed).toEqual(added)
  })
})

describe.each(WAYS)('a stream over $way', (way) => {
  test.each([0, 30])('that stalls after %i bytes is a network fault, and is closed', async (after_bytes) => {
    const { answer, server } = await fail(way, { kind: 'stall', after_bytes }, true, { idle_timeout_ms: 60 })
    expect(answer).toMatchObject({ code: 'network' })
    expect(!answer.ok && answer.message).toBe(
      'lab/gpt-5 sent nothing for 0.1 s; the stream was given up (idle_timeout_ms)',
    )
    await until(() => server.requests[0]?.aborted === true)
  })

  test('that trickles is alive, until it is aborted', async () => {
    const server = await start(way, { fault: { kind: 'trickle', every_ms: 10 } })
    const model = await openModel(way, server.url, { idle_timeout_ms: 500 })
    const controller = new AbortController()
    const said: string[] = []
    const call = model.generate(ask(), options({ signal: controller.signal, onDelta: ({ text }) => said.push(text) }))
    await until(() => said.length > 70)
    controller.abort()
    expect(await call).toMatchObject({ ok: false, code: 'aborted' })
    await until(() => server.requests[0]?.aborted === true)
  })

  test.each([true, false])('that says it is overloaded is overloaded (before the first word: %s)', async (at_start) => {
    const type = { anthropic: 'overloaded_error', google: 'UNAVAILABLE' }[way.type as string] ?? 'server_error'
    const fault = { kind: 'stream_error', type, message: 'Overloaded, try later', at_start } as const
    const { answer } = await fail(way, fault, true)
    expect(answer).toMatchObject({ code: 'overloaded' })
    expect(!answer.ok && answer.message).toContain('Overloaded, try later')
  })

  test('that says it is rate limited is rate limited', async () => {
    const type =
      { anthropic: 'rate_limit_error', google: 'RESOURCE_EXHAUSTED' }[way.type as string] ?? 'rate_limit_exceeded'
    const message = 'Rate limit reached. Please try again in 1.5s.'
    for (const at_start of [true, false]) {
      const { answer } = await fail(way, { kind: 'stream_error', type, message, at_start }, true)
      expect(answer).toMatchObject({ code: 'rate_limited', retry_after_ms: 1500 })
    }
  })
})

describe('how long to wait', () => {
  test.each<[Record<string, string>, unknown, number | null]>([
    [{ 'retry-after': '7' }, undefined, 7000],
    [{ 'retry-after': '0.5' }, undefined, 500],
    [{ 'retry-after': '7', 'retry-after-ms': '250' }, undefined, 250],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date: 'Wed, 21 Oct 2015 07:28:00 GMT' }, undefined, 30_000],
    [{ 'retry-after': 'nonsense' }, undefined, null],
    [{}, { error: { message: 'Please try again in 6m0.5s.', type: 'tokens', code: 'rate_limit_exceeded' } }, 360_500],
    [
      {},
      { error: { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '36s' }] } },
      36_000,
    ],
  ])('%j %j', async (headers, body, expected) => {
    const { answer } = await fail(way('google'), { kind: 'status', status: 429, headers, body }, false)
    expect(answer).toMatchObject({ code: 'rate_limited', retry_after_ms: expected })
  })

  test('a date is counted from now where the server does not tell its own time', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
    const { answer } = await fail(
      way('openai chat'),
      { kind: 'status', status: 503, headers: { 'retry-after': inAnHour, date: '' } },
      false,
    )
    expect(!answer.ok && answer.retry_after_ms).toBeGreaterThan(50 * 60_000)
    expect(!answer.ok && answer.retry_after_ms).toBeLessThan(61 * 60_000)
  })
})

describe('what providers say', () => {
  test.each<[string, string, number, unknown]>([
    [
      'OpenAI',
      'openai responses',
      400,
      openai('context_length_exceeded', 'Your input exceeds the context window of this model.'),
    ],
    [
      'OpenAI chat',
      'openai chat',
      400,
      openai('context_length_exceeded', "This model's maximum context length is 8192 tokens."),
    ],
    [
      'OpenAI per minute',
      'openai chat',
      429,
      openai(
        'rate_limit_exceeded',
        'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 41000.',
      ),
    ],
    [
      'Anthropic',
      'anthropic',
      400,
      anthropic('invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'),
    ],
    [
      'Anthropic with output',
      'anthropic',
      400,
      anthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'),
    ],
    ['Anthropic by bytes', 'anthropic', 413, anthropic('request_too_large', 'Request exceeds the maximum size')],
    [
      'Google',
      'google',
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        },
      },
    ],
    [
      'llama.cpp',
      'openai-compatible',
      400,
      {
        error: {
          code: 400,
          type: 'exceed_context_size_error',
          message: 'the request exceeds the available context size',
        },
      },
    ],
    [
      'vLLM',
      'openai-compatible',
      400,
      {
        object: 'error',
        type: 'BadRequestError',
        code: 400,
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      },
    ],
    [
      'vLLM prompt',
      'openai-compatible',
      400,
      { object: 'error', message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' },
    ],
    ['Ollama', 'openai-compatible', 400, { error: 'the input length exceeds the context length' }],
    [
      'Ollama prompt',
      'openai-compatible',
      400,
      { error: { message: 'prompt too long; exceeded max context length by 12 tokens' } },
    ],
    [
      'LM Studio',
      'openai-compatible',
      400,
      { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
    ],
    [
      'Mistral',
      'openai-compatible',
      400,
      { message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length' },
    ],
    [
      'xAI',
      'openai-compatible',
      400,
      { error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
    ],
  ])('%s: too long', async (_, name, status, body) => {
    for (const streamed of [false, true]) {
      const { answer } = await fail(way(name), { kind: 'status', status, body }, streamed)
      expect(answer).toMatchObject({ code: 'context_overflow' })
    }
  })

  test.each<[string, string, number, unknown, string]>([
    ['quota', 'openai responses', 429, openai('insufficient_quota', 'You exceeded your current quota'), 'auth'],
    [
      'a bad key of Google',
      'google',
      400,
      { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' } },
      'auth',
    ],
    [
      'too many output tokens',
      'anthropic',
      400,
      anthropic(
        'invalid_request_error',
        'max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens',
      ),
      'bad_request',
    ],
    [
      'too many tokens per minute',
      'openai-compatible',
      429,
      openai('rate_limit_exceeded', 'Too many tokens per minute'),
      'rate_limited',
    ],
  ])('%s', async (_, name, status, body, code) => {
    const { answer } = await fail(way(name), { kind: 'status', status, body }, false)
    expect(answer).toMatchObject({ code })
  })

  test('a failed response of OpenAI is what it calls itself, though the SDK says 400', async () => {
    const fault = { kind: 'stream_error', type: 'server_error', message: 'The server had an error' } as const
    expect((await fail(way('openai responses'), fault, false)).answer).toMatchObject({ code: 'overloaded' })
  })

  test('a missing model comes with advice', async () => {
    const body = openai('model_not_found', 'The model `gpt-5` does not exist')
    const { answer } = await fail(way('openai chat'), { kind: 'status', status: 404, body }, false)
    expect(!answer.ok && answer.message).toMatch(
      /^lab\/gpt-5 \(HTTP 404\): not found: The model `gpt-5` does not exist; check the name of the model and the base URL \(127/,
    )
  })

  test.each(WAYS)('keys and headers that $way quotes are struck out', async (way) => {
    const message = `Incorrect API key provided: ${KEY}. Header was Bearer abcdef123456, x-extra: topsecretvalue`
    const body =
      way.type === 'anthropic' ? anthropic('authentication_error', message) : openai('invalid_api_key', message)
    const headers = { 'x-extra': 'topsecretvalue' }
    const { answer } = await fail(way, { kind: 'status', status: 401, body }, false, { headers })
    expect(answer).toMatchObject({ code: 'auth' })
    expect(!answer.ok && answer.message).not.toMatch(/abcdef|topsecret/)
    expect(!answer.ok && answer.message).toMatch(/; check LAB_KEY$/)
  })

  test('no half of a key is left where a message is cut', async () => {
    for (let before = 270; before < 300; before += 3) {
      const body = openai('invalid_api_key', `${'y'.repeat(before)} ${KEY} is wrong`)
      const { answer } = await fail(way('openai chat'), { kind: 'status', status: 401, body }, false)
      expect(!answer.ok && answer.message).not.toContain(KEY.slice(0, 6))
    }
  })

  test('long messages are cut', async () => {
    const { answer } = await fail(
      way('openai chat'),
      { kind: 'status', status: 400, body: openai('x', 'y '.repeat(5000)) },
      false,
    )
    expect(!answer.ok && answer.message).toMatch(/y y…$/)
  })
})

test('pings are signs of life', async () => {
  const tick = 'event: ping\ndata: {"type": "ping"}\n\n'
  const server = await start(way('anthropic'), { fault: { kind: 'trickle', every_ms: 15, tick } })
  const model = await openModel(way('anthropic'), server.url, { idle_timeout_ms: 60 })
  const controller = new AbortController()
  const call = model.generate(ask(), options({ signal: controller.signal, onDelta() {} }))
  let answer: ModelAnswer | null = null
  void call.then((value) => {
    answer = value
  })
  await new Promise((resolve) => setTimeout(resolve, 250))
  expect(answer).toBe(null)
  controller.abort()
  expect(await call).toMatchObject({ code: 'aborted' })
})

test('a server that does not close after the end mark keeps nobody waiting for long', async () => {
  const body = [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n',
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join('')
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${body}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const model = await openModel(way('anthropic'), `http://127.0.0.1:${port}`)
  expect(await model.generate(ask(), options({ onDelta() {} }))).toMatchObject({
    ok: true,
    parts: [{ type: 'text', text: 'hi' }],
  })
  server.close()
})

function openai(code: string, message: string) {
  return { error: { message, type: 'invalid_request_error', param: null, code } }
}

function anthropic(type: string, message: string) {
  return { type: 'error', error: { type, message } }
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 5) {
    if (waited > 3000) throw new Error('waited for too long')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
