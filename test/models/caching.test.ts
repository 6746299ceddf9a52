import { describe, expect, onTestFinished, test } from 'vitest'
import { createModels, createRetinue, type StoredEvent } from '../../src/index.js'
import { type Asked, type LoopbackStep, type ProtocolName, startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'
import { ask, openModel, options, WAYS } from './lab.js'

const PROVIDERS: Record<ProtocolName, { type: 'openai' | 'anthropic' | 'google'; api?: 'chat' | 'responses' }> = {
  chat: { type: 'openai', api: 'chat' },
  responses: { type: 'openai', api: 'responses' },
  anthropic: { type: 'anthropic' },
  google: { type: 'google' },
}
const PROTOCOLS = Object.keys(PROVIDERS) as ProtocolName[]

/** Files of about 500 tokens each. */
const FILES = Object.fromEntries(
  Array.from({ length: 14 }, (_, n) => [`f${n}.txt`, `${n}: some words of a file, “quoted”, 日本\n`.repeat(40)]),
)
const read = (n: number) => ({ name: 'read_file', args: { path: `f${n % 14}.txt` } })

/** Turns of a run that reads a lot: one file, three side by side, once fourteen, with and without words before. */
function turnOf(n: number): LoopbackStep {
  if (n === 4) return { text: 'All of them.', calls: Array.from({ length: 14 }, (_, i) => read(i)) }
  // What it says itself cannot be masked, so that there must be summaries in the end.
  if (n % 3 === 1) return { reasoning: `Thinking ${n}.`, text: `Turn ${n}. `.repeat(150), calls: [read(n)] }
  return { calls: Array.from({ length: n % 3 === 2 ? 3 : 1 }, (_, i) => read(n + i)) }
}

/** Counts what it reads, so that the run knows how large its requests are. Summaries are asked for without tools. */
function provider(turns: number) {
  let turn = 0
  return ({ body }: Asked): LoopbackStep => {
    const input_tokens = Math.ceil(JSON.stringify(body).length / 4)
    const usage = { input_tokens, output_tokens: 50 }
    const wordsOnly = /"tool_choice":("none"|\{"type":"none"\})|"mode":"NONE"/.test(JSON.stringify(body))
    if (wordsOnly) return { text: `Summary after turn ${turn}.`, usage }
    turn += 1
    return { ...(turn > turns ? { text: 'Done.' } : turnOf(turn)), usage }
  }
}

async function runOn(protocol: ProtocolName, turns: number, budget: { context_tokens?: number; turns?: number } = {}) {
  const server = await startLoopback({ protocol, steps: provider(turns) })
  onTestFinished(() => server.close())
  const cwd = makeProject(FILES)
  const providers = { it: { ...PROVIDERS[protocol], base_url: server.url, api_key_env: 'KEY' } }
  const models = () => createModels({ env: { KEY: 'k' }, providers, discover: false })
  const retinue = await createRetinue({ cwd, models: models(), settings: { mode: 'dangerous', budget } })
  const { run_id, outcome, text } = await retinue.run({ task: 'Read it all', model: 'it/m' }).result()
  const events = await retinue.events(run_id)
  await retinue.close()
  return { cwd, run_id, outcome, text, events, server, models, bodies: server.requests.map(({ body }) => body) }
}

type Body = Record<string, unknown>
type Block = { cache_control?: unknown; [field: string]: unknown }

/** What a provider's cache sees of a request: the tools, the system prompt and every block of the conversation. */
function blocksOf(protocol: ProtocolName, body: Body): Block[] {
  const tools = { tools: body.tools }
  switch (protocol) {
    case 'chat':
      return [tools, ...(body.messages as Block[])]
    case 'responses':
      return [tools, ...(body.input as Block[])]
    case 'anthropic': {
      const messages = body.messages as { role: string; content: Block[] }[]
      const content = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))
      return [tools, ...(body.system as Block[]), ...content]
    }
    case 'google': {
      const contents = body.contents as { role: string; parts: Block[] }[]
      const parts = contents.flatMap(({ role, parts }) => parts.map((part) => ({ role, ...part })))
      return [tools, body.systemInstruction as Block, ...parts]
    }
  }
}

/** The blocks as they are on the wire, but for Anthropic's marks, which are meant to move. */
function written(blocks: readonly Block[]): string[] {
  return blocks.map(({ cache_control: _, ...block }) => JSON.stringify(block))
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((block, index) => block !== b[index])
  return differs < 0 ? a.length : differs
}

/** Each request after the first, with what the log says happened to the conversation since the one before. */
function steps(events: readonly StoredEvent[]) {
  const found: { masked: string[]; summarized: boolean }[] = []
  let since: { masked: string[]; summarized: boolean } | null = null
  for (const event of events) {
    if (event.type === 'model.requested') {
      if (since) found.push(since)
      since = { masked: [], summarized: false }
    }
    if (event.type === 'context.masked') since?.masked.push(...event.data.call_ids)
    if (event.type === 'context.summarized' && since) since.summarized = true
  }
  return found
}

describe.each(PROTOCOLS)('over %s', (protocol) => {
  test('each request of a long run starts with the whole of the one before', async () => {
    const { outcome, events, bodies } = await runOn(protocol, 30)
    expect(outcome).toBe('completed')
    expect(bodies).toHaveLength(31)
    expect(steps(events).filter(({ masked, summarized }) => summarized || masked.length > 0)).toEqual([])
    const requests = bodies.map((body) => written(blocksOf(protocol, body)).join('\n'))
    for (const [index, request] of requests.slice(1).entries()) {
      expect(request.startsWith(`${requests[index]}\n`)).toBe(true)
    }
  })

  test('masks and summaries change what they say they change, and nothing else does', async () => {
    const { outcome, events, bodies } = await runOn(protocol, 60, { context_tokens: 18_000 })
    expect(outcome).toBe('completed')
    const changes = steps(events)
    expect(changes).toHaveLength(bodies.length - 1)
    expect(changes.filter(({ masked }) => masked.length > 0).length).toBeGreaterThan(1)
    expect(changes.filter(({ summarized }) => summarized).length).toBeGreaterThan(0)
    const requests = bodies.map((body) => written(blocksOf(protocol, body)))
    for (const [index, { masked, summarized }] of changes.entries()) {
      const [before, after] = [requests[index] as string[], requests[index + 1] as string[]]
      const same = commonLength(before, after)
      if (summarized) {
        // The tools, the system prompt and the task are still those of the run's first request.
        expect(after.slice(0, 3)).toEqual(requests[0])
        continue
      }
      if (masked.length === 0) expect(same).toBe(before.length)
      expect(before.filter((block, at) => block !== after[at])).toHaveLength(masked.length)
    }
  })

  test('a request rebuilt from the log in another process is the same, byte for byte', async () => {
    const { cwd, run_id, models, server, bodies } = await runOn(protocol, 6)
    const retinue = await createRetinue({ cwd, models: models() })
    onTestFinished(() => retinue.close())
    const { ok, requests } = await retinue.replay(run_id)
    expect(ok).toBe(true)
    const choice = await retinue.models.resolve('it/m')
    for (const { request } of requests) if (choice.ok) await choice.model.generate(request, options())
    const again = server.requests.slice(bodies.length).map(({ body }) => JSON.stringify(body))
    expect(again).toEqual(bodies.map((body) => JSON.stringify(body)))
  })
})

describe('the marks for Anthropic', () => {
  /** How far back from a mark it looks for something that it knows. */
  const LOOKS_BACK = 20
  const MARKS_ALLOWED = 4

  /** How many blocks of each request Anthropic would have found in its cache, were it to forget nothing. */
  function hits(bodies: readonly Body[]): { found: number; blocks: number }[] {
    const known = new Set<string>()
    return bodies.map((body) => {
      const blocks = blocksOf('anthropic', body)
      const text = written(blocks)
      const prefix = (length: number) => text.slice(0, length).join('\n')
      const ends = blocks.flatMap((block, index) => (block.cache_control ? [index + 1] : []))
      expect(ends.length).toBeLessThanOrEqual(MARKS_ALLOWED)
      expect(ends).toContain(2)
      expect(ends).toContain(blocks.length)
      const tried = ends.flatMap((end) => Array.from({ length: LOOKS_BACK }, (_, back) => end - back))
      const found = Math.max(0, ...tried.filter((length) => length > 0 && known.has(prefix(length))))
      for (const end of ends) known.add(prefix(end))
      return { found, blocks: blocks.length }
    })
  }

  test('let it find the whole of the request before, also past fourteen calls in one answer', async () => {
    const { bodies } = await runOn('anthropic', 12)
    const requests = hits(bodies)
    const grown = requests.map(({ blocks }, index) => blocks - (requests[index - 1]?.blocks ?? 0))
    expect(Math.max(...grown.slice(1))).toBeGreaterThan(LOOKS_BACK)
    expect(requests.slice(1).map(({ found }) => found)).toEqual(requests.slice(0, -1).map(({ blocks }) => blocks))
  })

  test('also for the last report, and after a mask what stands before it', async () => {
    const { events, bodies } = await runOn('anthropic', 60, { context_tokens: 18_000, turns: 25 })
    expect(events.some(({ type }) => type === 'budget.exceeded')).toBe(true)
    const requests = hits(bodies)
    const changes = steps(events)
    for (const [index, { masked, summarized }] of changes.entries()) {
      const { found } = requests[index + 1] as { found: number }
      const before = requests[index] as { blocks: number }
      if (masked.length === 0 && !summarized) expect(found).toBe(before.blocks)
      else expect(found).toBeGreaterThanOrEqual(2)
    }
  })
})

describe('the key for OpenAI', () => {
  const caller = (run_id: string, agent_id: string) => ({
    caller: { run_id, agent_id, request_id: 'q1', purpose: 'turn' as const, attempt: 1 },
  })

  test.each(['responses', 'chat'] as const)('is one for each agent of a run, over %s', async (protocol) => {
    const server = await startLoopback({ protocol, steps: () => ({ text: 'Hi.' }) })
    onTestFinished(() => server.close())
    const models = createModels({
      env: { OPENAI_API_KEY: 'k' },
      providers: { openai: { type: 'openai', api: protocol } },
      fetch: (url, init) => fetch(String(url).replace('https://api.openai.com/v1', server.url), init),
    })
    const choice = await models.resolve('openai/gpt-5')
    const callers: [string, string][] = [
      ['r1', 'root'],
      ['r1', 'root'],
      ['r1', 'c1'],
      ['r2', 'root'],
      ['r1', 'x'.repeat(80)],
    ]
    for (const [run, agent] of callers) {
      if (choice.ok) await choice.model.generate(ask(), options(caller(run, agent)))
    }
    const keys = server.requests.map(({ body }) => String(body.prompt_cache_key))
    expect(keys.slice(0, 4)).toEqual(['retinue-r1-root', 'retinue-r1-root', 'retinue-r1-c1', 'retinue-r2-root'])
    expect(keys[4]).toHaveLength(64)
    if (protocol === 'responses') expect(server.requests[0]?.body.store).toBe(false)
  })

  test.each(WAYS)('is not sent to a stranger: $way', async (way) => {
    const server = await startLoopback({ protocol: way.protocol, steps: () => ({ text: 'Hi.' }) })
    onTestFinished(() => server.close())
    await (await openModel(way, server.url)).generate(ask(), options())
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('prompt_cache_key')
  })
})

describe.each(WAYS)('cached tokens over $way', (way) => {
  test.each([false, true])('are part of the input (streamed: %s)', async (streamed) => {
    const written = way.type === 'anthropic' ? 200 : 0
    const usage = { input_tokens: 1000, output_tokens: 50, cached_tokens: 700, cache_write_tokens: written }
    const server = await startLoopback({
      protocol: way.protocol,
      steps: [{ text: 'Hi.', usage: { ...usage, reasoning_tokens: 30 } }],
    })
    onTestFinished(() => server.close())
    const model = await openModel(way, server.url)
    const answer = await model.generate(ask(), options(streamed ? { onDelta: () => {} } : {}))
    expect(answer.ok && answer.usage).toEqual({ ...usage, reasoning_tokens: 30 })
  })
})
