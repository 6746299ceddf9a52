import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createModels, createRetinue } from '../../src/index.js'
import { discoverLocal } from '../../src/models/local/discover.js'
import { createMemoryStore } from '../../src/store/index.js'
import {
  LM_STUDIO_OTHERWISE,
  llamaCppRoutes,
  lmStudioRoutes,
  olderLmStudioRoutes,
  ollamaRoutes,
  type Route,
  startLocal,
  vllmRoutes,
} from '../support/loopback/local.js'
import { makeProject, tree } from '../support/project.js'
import { ask, options } from './lab.js'

/** Long enough for a busy machine: only what never answers waits for it. */
const timeout_ms = 5000

async function start(...args: Parameters<typeof startLocal>) {
  const server = await startLocal(...args)
  onTestFinished(() => server.close())
  return server
}

const OLLAMA = ollamaRoutes({
  'gemma:2b': { capabilities: ['completion'], context_length: 8192 },
  'qwen3:8b': { capabilities: ['completion', 'tools', 'thinking'], context_length: 40_960 },
  'llama3.1:latest': { capabilities: ['completion', 'tools'], context_length: 131_072, num_ctx: 16_384 },
  'mistral:7b': { capabilities: ['completion', 'tools'], context_length: 32_768, loaded: 4096 },
  'ancient:1b': {},
  'devstral:24b': { capabilities: ['completion', 'tools'], context_length: 131_072, loaded: 32_768 },
  'nomic-embed-text:latest': { capabilities: ['embedding'], context_length: 2048 },
})

const NO_TOOLS_400: Route = {
  status: 400,
  json: {
    object: 'error',
    message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    type: 'BadRequestError',
    code: 400,
  },
}

describe('what runs on this machine is told by what it answers', () => {
  test('Ollama: with tools, without, and what was not said', async () => {
    const { origin } = await start(OLLAMA)
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([
      {
        provider: 'ollama',
        origin,
        version: '0.12.6',
        models: [
          { name: 'gemma:2b', context_window: 8192, tools: false, loaded: false },
          { name: 'qwen3:8b', context_window: 40_960, tools: true, loaded: false },
          { name: 'llama3.1:latest', context_window: 16_384, tools: true, loaded: false },
          { name: 'mistral:7b', context_window: 4096, tools: true, loaded: true },
          { name: 'ancient:1b', context_window: null, tools: null, loaded: false },
          { name: 'devstral:24b', context_window: 32_768, tools: true, loaded: true },
        ],
      },
    ])
  })

  test('LM Studio', async () => {
    const { origin } = await start(lmStudioRoutes(), { otherwise: LM_STUDIO_OTHERWISE })
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([
      {
        provider: 'lmstudio',
        origin,
        version: null,
        models: [
          { name: 'lab/plain-4b', context_window: 131_072, tools: false, loaded: false },
          { name: 'lab/tools-9b', context_window: 8192, tools: true, loaded: true },
        ],
      },
    ])
  })

  test.each([
    [true, [true, false]],
    [false, [null, null]],
  ])('LM Studio before 0.4, telling what models can do: %s', async (tells, tools) => {
    const { origin } = await start(olderLmStudioRoutes(tells), { otherwise: LM_STUDIO_OTHERWISE })
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([
      {
        provider: 'lmstudio',
        origin,
        version: null,
        models: [
          { name: 'tools-7b', context_window: 4096, tools: tools[0], loaded: true },
          { name: 'seeing-7b', context_window: 32_768, tools: tools[1], loaded: false },
        ],
      },
    ])
  })

  test.each<[string, object, boolean | null]>([
    ['with tools', { chat_template_caps: { supports_tools: true, supports_tool_calls: true } }, true],
    ['without', { chat_template_caps: { supports_tools: false, supports_tool_calls: false } }, false],
    ['with a template for tools', { chat_template_tool_use: '{% if tools %}' }, true],
    ['before it said so', {}, null],
  ])('llama.cpp, %s', async (_, props, tools) => {
    const settings = { default_generation_settings: { id: 0, n_ctx: 16_384 }, total_slots: 4, build_info: 'b6000-abc' }
    const { origin } = await start(llamaCppRoutes('../models/qwen.gguf', { ...settings, ...props }))
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([
      {
        provider: 'llamacpp',
        origin,
        version: 'b6000-abc',
        models: [{ name: '../models/qwen.gguf', context_window: 16_384, tools, loaded: null }],
      },
    ])
  })

  test('llama.cpp while it loads its model', async () => {
    const loading = {
      status: 503,
      json: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    }
    const { origin } = await start({}, { otherwise: loading })
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toMatchObject([{ provider: 'llamacpp', models: [] }])
  })

  test('vLLM', async () => {
    const { origin } = await start(vllmRoutes('Qwen/Qwen3-8B'))
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([
      {
        provider: 'vllm',
        origin,
        version: '0.11.0',
        models: [{ name: 'Qwen/Qwen3-8B', context_window: 40_960, tools: null, loaded: true }],
      },
    ])
  })

  test('all of them side by side, in the order of the places', async () => {
    const servers = await Promise.all([start(OLLAMA), start(vllmRoutes('a/b')), start(lmStudioRoutes())])
    const found = await discoverLocal({ origins: servers.map(({ origin }) => origin), timeout_ms })
    expect(found.map(({ provider }) => provider)).toEqual(['ollama', 'vllm', 'lmstudio'])
  })
})

describe('nothing else is taken for a model server', () => {
  const page: Route = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/html' })
    res.end('<!doctype html><title>My app</title>')
  }
  const others: [string, Record<string, Route>, Route?][] = [
    ['a web app that answers everything with its page', {}, page],
    ['an API that answers everything with an error', {}, { status: 401, json: { error: 'unauthorized' } }],
    ['an API that answers everything with an empty object', {}, { json: {} }],
    ['an API that answers everything with a list', {}, { json: { object: 'list', data: [] } }],
    ['an API that answers everything with null', {}, { json: null }],
    ['a shop with models', { '/v1/models': { json: { data: [{ id: 'T', owned_by: 'ford' }], models: [] } } }],
    [
      'something with a version and no tags',
      {
        '/v1/models': { json: {} },
        '/version': { json: { version: '1' } },
        '/api/version': { json: { version: '1' } },
      },
    ],
    [
      'a redirect',
      {},
      (_, res) => {
        res.writeHead(302, { location: 'http://127.0.0.1:1/' })
        res.end()
      },
    ],
  ]
  test.each(others)('%s', async (_, routes, otherwise) => {
    const { origin } = await start(routes, otherwise ? { otherwise } : {})
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([])
  })

  test('who does not answer in JSON is asked once and left alone', async () => {
    const { origin, asked } = await start({}, { otherwise: page })
    await discoverLocal({ origins: [origin], timeout_ms })
    expect(asked).toEqual(['GET /v1/models'])
  })

  test('nor what never answers, nor a port that is closed', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const closed = await startLocal({})
    await closed.close()
    const origins = [`http://127.0.0.1:${port}`, closed.origin]
    const started = Date.now()
    expect(await discoverLocal({ origins, timeout_ms: 100 })).toEqual([])
    expect(Date.now() - started).toBeLessThan(5000)
  })

  test('nor what never stops: it is hung up on', async () => {
    let written = 0
    let closed: () => void = () => {}
    const hungUp = new Promise<void>((resolve) => {
      closed = resolve
    })
    const piece = Buffer.alloc(1 << 20, '[')
    const { origin } = await start({
      '/v1/models': (_, res) => {
        res.writeHead(200, { 'content-type': 'application/json' })
        res.on('close', closed)
        const write = (): void => {
          if (res.destroyed || written >= 100) return void res.end()
          written += 1
          res.write(piece, write)
        }
        write()
      },
    })
    expect(await discoverLocal({ origins: [origin], timeout_ms })).toEqual([])
    await hungUp
    expect(written).toBeLessThan(60)
  })
})

describe('a name', () => {
  async function models(routes: Record<string, Route>, more: Parameters<typeof startLocal>[1] = {}) {
    const server = await start(routes, more)
    return { server, models: createModels({ env: {}, discover: { origins: [server.origin], timeout_ms } }) }
  }

  test('finds its model, and the window that the server gives it', async () => {
    const { models: found } = await models(OLLAMA)
    for (const [name, window] of [
      ['ollama/qwen3:8b', 40_960],
      ['ollama/llama3.1', 16_384],
      ['ollama/llama3.1:latest', 16_384],
      ['ollama/ancient:1b', null],
    ] as const) {
      const choice = await found.resolve(name)
      expect(choice.ok && [choice.model.name, choice.model.window]).toEqual([name, window])
    }
    const { models: files } = await models(llamaCppRoutes('/home/me/qwen3-8b.gguf', {}))
    for (const name of ['qwen3-8b', 'qwen3-8b.gguf', '/home/me/qwen3-8b.gguf']) {
      expect(await files.resolve(`llamacpp/${name}`)).toMatchObject({ ok: true })
    }
  })

  test('of a model that is not there lists those that are', async () => {
    const { models: found, server } = await models(OLLAMA)
    expect(await found.resolve('ollama/qwen3:30b')).toEqual({
      ok: false,
      code: 'unknown_model',
      message: `Ollama at ${server.origin.slice(7)} has no model "qwen3:30b", only ollama/gemma:2b, ollama/qwen3:8b, ollama/llama3.1:latest, ollama/mistral:7b, ollama/ancient:1b, ollama/devstral:24b; get it with: ollama pull qwen3:30b`,
    })
  })

  test('of a model without tool calls is refused, with those that have them', async () => {
    const { models: found } = await models(OLLAMA)
    expect(await found.resolve('ollama/gemma:2b')).toEqual({
      ok: false,
      code: 'no_tools',
      message:
        'ollama/gemma:2b cannot call tools, and an agent works by calling them. "ollama show" lists what a model is capable of. These can: ollama/qwen3:8b, ollama/llama3.1:latest, ollama/mistral:7b, ollama/devstral:24b',
    })
    const { models: studio } = await models(lmStudioRoutes(), { otherwise: LM_STUDIO_OTHERWISE })
    expect(await studio.resolve('lmstudio/lab/plain-4b')).toMatchObject({ code: 'no_tools' })
    expect(await studio.resolve('lmstudio/lab/tools-9b')).toMatchObject({ ok: true })
  })

  test('of a vLLM model: it is asked whether it was started for tools', async () => {
    const { models: without } = await models({ ...vllmRoutes('a/b'), '/v1/chat/completions': NO_TOOLS_400 })
    expect(await without.resolve('vllm/a/b')).toEqual({
      ok: false,
      code: 'no_tools',
      message:
        'vllm/a/b cannot call tools, and an agent works by calling them. Start vLLM with --enable-auto-tool-choice and --tool-call-parser',
    })
    const { models: able, server } = await models(vllmRoutes('a/b'), { steps: [{ text: 'Hi' }] })
    expect(await able.resolve('vllm/a/b')).toMatchObject({ ok: true, model: { window: 40_960 } })
    expect(server.chats[0]).toMatchObject({ tool_choice: 'auto', max_tokens: 1 })
    const busy: Route = { status: 500, json: { error: 'engine is busy' } }
    const { models: unknown } = await models({ ...vllmRoutes('a/b'), '/v1/chat/completions': busy })
    expect(await unknown.resolve('vllm/a/b')).toMatchObject({ ok: true })
  })

  test('of a server that does not run says how to start it', async () => {
    const closed = await startLocal({})
    await closed.close()
    const nowhere = createModels({ env: {}, discover: { origins: [closed.origin], timeout_ms } })
    expect(await nowhere.resolve('vllm/x')).toEqual({
      ok: false,
      code: 'unknown_provider',
      message:
        'no vLLM answers here: start it (vllm serve <model>, usually at 127.0.0.1:8000), or, where it listens elsewhere, configure a provider "vllm"',
    })
  })

  test('of another provider, and a configured one, ask nobody', async () => {
    const { server } = await models(OLLAMA)
    const discover = { origins: [server.origin], timeout_ms }
    const providers = { ollama: { type: 'openai-compatible' as const, base_url: 'http://127.0.0.1:1/v1' } }
    const found = createModels({ env: { OPENAI_API_KEY: 'k' }, providers, discover })
    expect(await found.resolve('openai/gpt-5')).toMatchObject({ ok: true })
    expect(await found.resolve('ollama/gemma:2b')).toMatchObject({ ok: true })
    expect(await found.fallback()).toBe('openai/gpt-5')
    const off = createModels({ env: {}, discover: false })
    expect(await off.discover()).toEqual([])
    expect(await off.fallback()).toBe(null)
    expect(await off.resolve('ollama/qwen3:8b')).toMatchObject({ code: 'unknown_provider' })
    expect(server.asked).toEqual([])
    expect(await found.discover()).toEqual([])
  })
})

describe('OLLAMA_HOST', () => {
  test('says where to look', async () => {
    const { origin } = await start(OLLAMA)
    const models = createModels({ env: { OLLAMA_HOST: origin.slice('http://'.length) } })
    expect(await models.resolve('ollama/gemma:2b')).toMatchObject({ code: 'no_tools' })
    expect(await models.resolve('ollama/qwen3:8b')).toMatchObject({ ok: true, model: { window: 40_960 } })
  })

  test('is taken at its word when what is there does not answer like Ollama', async () => {
    const server = await start({}, { steps: [{ text: 'Hello.' }] })
    const models = createModels({ env: { OLLAMA_HOST: server.origin } })
    const choice = await models.resolve('ollama/gemma:2b')
    expect(choice.ok && (await choice.model.generate(ask(), options()))).toMatchObject({ ok: true })
  })
})

describe('without any configuration', () => {
  const STEPS = [
    { calls: [{ name: 'write_file', args: { path: 'b.txt', content: 'b\n' } }] },
    { text: 'Written.', usage: { input_tokens: 100, output_tokens: 20 } },
  ]

  test.each([true, false])(
    'a run takes the model that is loaded and can call tools (streamed: %s)',
    async (streamed) => {
      const server = await start(OLLAMA, { steps: STEPS })
      const cwd = makeProject({})
      const retinue = await createRetinue({
        cwd,
        store: createMemoryStore({ clock: { now: () => Date.now() } }),
        models: createModels({ env: {}, discover: { origins: [server.origin], timeout_ms } }),
        settings: { mode: 'dangerous' },
      })
      onTestFinished(() => retinue.close())
      const run = retinue.run({ task: 'Write b', ...(streamed ? { onDelta: () => {} } : {}) })
      expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Written.' })
      expect(tree(cwd)).toEqual({ 'b.txt': 'b\n' })
      expect(server.chats.map(({ model }) => model)).toEqual(['devstral:24b', 'devstral:24b'])
      expect(JSON.stringify(server.chats[0]?.tools)).toContain('"write_file"')
      expect(JSON.stringify(server.chats[1]?.messages)).toContain('"role":"tool"')
    },
  )

  test('models whose tools are not sure are not taken, and vLLM is asked', async () => {
    const plain = await start(llamaCppRoutes('x.gguf', {}))
    const refuses = await start({ ...vllmRoutes('a/b'), '/v1/chat/completions': NO_TOOLS_400 })
    const able = await start(vllmRoutes('c/d'), { steps: [{ text: 'Hi' }] })
    const fallback = (...servers: { origin: string }[]) =>
      createModels({ env: {}, discover: { origins: servers.map(({ origin }) => origin), timeout_ms } }).fallback()
    expect(await fallback(plain, refuses)).toBe(null)
    expect(await fallback(plain, refuses, able)).toBe('vllm/c/d')
  })
})
