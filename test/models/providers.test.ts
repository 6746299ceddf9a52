import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createHost } from '../../src/host/index.js'
import {
  createModels,
  type ProviderSettings,
  providerSettingsSchema,
  providersSettingsSchema,
} from '../../src/models/index.js'
import { startLoopback } from '../support/loopback/index.js'
import { ask, options } from './lab.js'

const KEYS = { OPENAI_API_KEY: 'k1', ANTHROPIC_API_KEY: 'k2', GOOGLE_GENERATIVE_AI_API_KEY: 'k3' }

/** Where a request would go, and with which headers. */
async function destination(
  name: string,
  env: Record<string, string>,
  providers: Record<string, ProviderSettings> = {},
) {
  let seen = ''
  const fetch: typeof globalThis.fetch = async (input) => {
    seen = String(input)
    throw new TypeError('fetch failed')
  }
  const choice = await createModels({ env, providers, fetch }).resolve(name)
  if (!choice.ok) return choice.message
  await choice.model.generate(ask(), options())
  return seen
}

describe('a name', () => {
  const models = createModels({ env: KEYS })

  test('without a provider comes back with advice', async () => {
    expect(await models.resolve('gpt-5')).toEqual({
      ok: false,
      code: 'bad_name',
      message:
        '"gpt-5" is not a model name: it takes provider/model, such as openai/gpt-5 (providers: anthropic, openai, google)',
    })
    for (const name of ['', '/', 'openai/', '/gpt-5']) {
      expect(await models.resolve(name)).toMatchObject({ ok: false, code: 'bad_name' })
    }
  })

  test('of an unknown provider lists those that are known', async () => {
    expect(await models.resolve('mistral/large')).toEqual({
      ok: false,
      code: 'unknown_provider',
      message: 'no provider "mistral" here, only anthropic, openai, google',
    })
    expect(await models.resolve('ollama/llama3')).toMatchObject({ message: expect.stringContaining('set OLLAMA_HOST') })
  })

  test('without its key says which variable to set', async () => {
    const none = createModels({ env: { OPENAI_API_KEY: ' ' } })
    expect(await none.resolve('openai/gpt-5')).toEqual({
      ok: false,
      code: 'no_key',
      message: 'openai/gpt-5 needs a key: set OPENAI_API_KEY',
    })
    const own = createModels({
      env: KEYS,
      providers: { mine: { type: 'openai-compatible', base_url: 'http://h/v1', api_key_env: 'MY_KEY' } },
    })
    expect(await own.resolve('mine/x')).toMatchObject({ code: 'no_key', message: 'mine/x needs a key: set MY_KEY' })
  })

  test('resolves to one model, however often it is asked for', async () => {
    const [a, b] = await Promise.all([models.resolve('openai/gpt-5'), models.resolve('openai/gpt-5')])
    expect(a.ok && b.ok && a.model === b.model).toBe(true)
  })

  test('may have more slashes', async () => {
    const choice = await createModels({
      env: {},
      providers: { router: { type: 'openai-compatible', base_url: 'http://h/v1' } },
    }).resolve('router/anthropic/claude')
    expect(choice.ok && choice.model.name).toBe('router/anthropic/claude')
  })
})

describe('requests go', () => {
  const google = 'models/m:generateContent'
  test.each<[string, Record<string, string>, Record<string, ProviderSettings>, string]>([
    ['openai/m', {}, {}, 'https://api.openai.com/v1/responses'],
    ['anthropic/m', {}, {}, 'https://api.anthropic.com/v1/messages'],
    ['google/m', {}, {}, `https://generativelanguage.googleapis.com/v1beta/${google}`],
    ['openai/m', { OPENAI_BASE_URL: 'https://api.openai.com/v1/' }, {}, 'https://api.openai.com/v1/responses'],
    ['openai/m', { OPENAI_BASE_URL: 'http://h:1234/v1' }, {}, 'http://h:1234/v1/chat/completions'],
    ['openai/m', { OPENAI_BASE_URL: 'http://h:1234' }, {}, 'http://h:1234/v1/chat/completions'],
    ['anthropic/m', { ANTHROPIC_BASE_URL: 'http://h' }, {}, 'http://h/v1/messages'],
    ['anthropic/m', { ANTHROPIC_BASE_URL: 'http://h/v1/' }, {}, 'http://h/v1/messages'],
    ['anthropic/m', { ANTHROPIC_BASE_URL: 'http://h/anthropic' }, {}, 'http://h/anthropic/v1/messages'],
    ['ollama/m', { OLLAMA_HOST: '127.0.0.1:11434' }, {}, 'http://127.0.0.1:11434/v1/chat/completions'],
    ['ollama/m', { OLLAMA_HOST: '0.0.0.0' }, {}, 'http://127.0.0.1:11434/v1/chat/completions'],
    ['ollama/m', { OLLAMA_HOST: ':99' }, {}, 'http://127.0.0.1:99/v1/chat/completions'],
    ['ollama/m', { OLLAMA_HOST: 'https://far.example/' }, {}, 'https://far.example/v1/chat/completions'],
    ['openai/m', {}, { openai: { type: 'openai', api: 'chat' } }, 'https://api.openai.com/v1/chat/completions'],
    ['a/m', {}, { a: { type: 'openai', base_url: 'http://h/v1', api: 'responses' } }, 'http://h/v1/responses'],
    ['a/m', {}, { a: { type: 'openai', base_url: 'http://h/v1' } }, 'http://h/v1/chat/completions'],
    ['a/m', {}, { a: { type: 'google', base_url: 'http://h' } }, `http://h/v1beta/${google}`],
    ['a/m', {}, { a: { type: 'openai-compatible', base_url: 'http://h/x' } }, 'http://h/x/chat/completions'],
  ])('for %s with %j %j to %s', async (name, env, providers, expected) => {
    expect(await destination(name, { ...KEYS, ...env }, providers)).toBe(expected)
  })

  test('without a key to a server that needs none', async () => {
    const server = await startLoopback({ protocol: 'chat', steps: [{ text: 'hi' }] })
    const choice = await createModels({ env: { ...KEYS, OLLAMA_HOST: `127.0.0.1:${server.port}` } }).resolve(
      'ollama/llama3',
    )
    expect(choice.ok && (await choice.model.generate(ask(), options()))).toMatchObject({ ok: true })
    expect(server.requests[0]?.headers.authorization).toBe(undefined)
    await server.close()
  })
})

describe('what is there', () => {
  test('is listed, ready or not', () => {
    const models = createModels({
      env: { OPENAI_API_KEY: 'k', OLLAMA_HOST: 'localhost' },
      providers: { mine: { type: 'openai-compatible', base_url: 'http://h/v1', api_key_env: 'MY_KEY' } },
    })
    expect(models.available()).toEqual([
      { provider: 'anthropic', ready: false, hint: 'set ANTHROPIC_API_KEY' },
      { provider: 'openai', ready: true, hint: 'api.openai.com, key from OPENAI_API_KEY' },
      { provider: 'google', ready: false, hint: 'set GOOGLE_GENERATIVE_AI_API_KEY' },
      { provider: 'ollama', ready: true, hint: 'localhost:11434, without a key' },
      { provider: 'mine', ready: false, hint: 'set MY_KEY' },
    ])
  })

  test.each<[Record<string, string>, string | null]>([
    [{}, null],
    [{ OLLAMA_HOST: 'localhost' }, null],
    [KEYS, 'anthropic/claude-sonnet-4-5'],
    [{ OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' }, 'openai/gpt-5'],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: 'k' }, 'google/gemini-2.5-pro'],
    [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://localhost:1234/v1' }, null],
  ])('with %j falls back to %s', async (env, expected) => {
    expect(await createModels({ env, discover: false }).fallback()).toBe(expected)
  })

  test.each<[string, Record<string, ProviderSettings>, number | null]>([
    ['openai/gpt-5-mini', {}, 400_000],
    ['openai/gpt-4.1', {}, 1_047_576],
    ['anthropic/claude-opus-4-1', {}, 200_000],
    ['google/gemini-2.5-flash', {}, 1_048_576],
    ['openai/ft:gpt-4o:me', {}, null],
    ['mine/gpt-5', { mine: { type: 'openai-compatible', base_url: 'http://h/v1' } }, null],
    ['mine/gpt-5', { mine: { type: 'openai-compatible', base_url: 'http://h/v1', context_window: 8192 } }, 8192],
  ])('%s with %j takes %s tokens', async (name, providers, window) => {
    const choice = await createModels({ env: KEYS, providers }).resolve(name)
    expect(choice.ok && choice.model.window).toBe(window)
  })
})

describe('settings', () => {
  test('of a provider are strict', () => {
    const good = { type: 'openai-compatible', base_url: 'http://localhost:8080/v1', headers: { a: 'b' } }
    expect(providerSettingsSchema.safeParse(good).success).toBe(true)
    for (const bad of [
      { ...good, base_url: 'localhost:8080' },
      { ...good, base_url: undefined },
      { ...good, api: 'chat' },
      { ...good, apiKey: 'x' },
      { ...good, api_key_env: 'sk-123-456' },
      { ...good, type: 'mistral' },
    ]) {
      expect(providerSettingsSchema.safeParse(bad).success).toBe(false)
    }
  })

  test('cannot take the name of the scripted model, or one with a slash', () => {
    const settings = { type: 'openai' }
    expect(providersSettingsSchema.safeParse({ mine: settings }).success).toBe(true)
    expect(providersSettingsSchema.safeParse({ scripted: settings }).success).toBe(false)
    expect(providersSettingsSchema.safeParse({ 'a/b': settings }).success).toBe(false)
  })
})

test('a script is a model', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'retinue-models-'))
  const models = createModels({ env: {}, scripts_root: folder, readText: createHost().readText })
  expect(await models.resolve('scripted/a.yaml')).toMatchObject({
    ok: false,
    code: 'bad_script',
    message: expect.stringContaining('there is no script'),
  })
  await writeFile(join(folder, 'a.yaml'), 'agents:\n  root:\n    - txt: hi\n')
  expect(await models.resolve('scripted/a.yaml')).toEqual({
    ok: false,
    code: 'bad_script',
    message:
      'a.yaml:3: agents.root[0]: Unrecognized key: "txt"\na.yaml:3: agents.root[0]: a step answers (text, calls, or parts), fails or branches',
  })
  await writeFile(join(folder, 'a.yaml'), 'agents:\n  root:\n    - text: hi\n')
  const choice = await models.resolve('scripted/a.yaml')
  expect(choice.ok && (await choice.model.generate(ask(), options()))).toMatchObject({
    ok: true,
    model: 'scripted/a.yaml',
    parts: [{ type: 'text', text: 'hi' }],
  })
  await rm(folder, { recursive: true })
})
