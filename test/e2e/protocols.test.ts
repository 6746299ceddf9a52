import { describe, expect, it, onTestFinished } from 'vitest'
import { createModels, createRetinue, type Delta } from '../../src/index.js'
import { createMemoryStore } from '../../src/store/index.js'
import { retinue } from '../support/cli.js'
import { type LoopbackStep, type ProtocolName, startLoopback } from '../support/loopback/index.js'
import { makeProject, tree } from '../support/project.js'

const TASK = 'Greet the world in hello.txt and count its words'
const USAGE = { input_tokens: 100, output_tokens: 20, cached_tokens: 40 }

/** One task, in no provider's words: reads side by side, an edit, a command, an error that is mended. */
const STEPS: LoopbackStep[] = [
  {
    text: 'Looking around.',
    calls: [
      { name: 'list_dir', args: {} },
      { name: 'read_file', args: { path: 'hello.txt' } },
    ],
    usage: USAGE,
  },
  { calls: [{ name: 'edit_file', args: { path: 'hello.txt', old_text: 'nobody', new_text: 'world' } }], usage: USAGE },
  {
    text: 'Counting.',
    calls: [{ name: 'run_command', args: { command: 'wc -w < hello.txt > words.txt; cat words.txt' } }],
    usage: USAGE,
  },
  { calls: [{ name: 'read_file', args: { path: 'missing.txt' } }], usage: USAGE },
  { text: 'hello.txt greets the world, in 2 words.', usage: USAGE },
]

const PROVIDERS: Record<ProtocolName, { type: 'openai' | 'anthropic' | 'google'; api?: 'chat' | 'responses' }> = {
  chat: { type: 'openai', api: 'chat' },
  responses: { type: 'openai', api: 'responses' },
  anthropic: { type: 'anthropic' },
  google: { type: 'google' },
}

async function runOn(protocol: ProtocolName, streaming: boolean) {
  const server = await startLoopback({ protocol, steps: STEPS })
  onTestFinished(() => server.close())
  const cwd = makeProject({ 'hello.txt': 'hello nobody\n' })
  const providers = { it: { ...PROVIDERS[protocol], base_url: server.url, api_key_env: 'KEY' } }
  const deltas: Delta[] = []
  const host = await createRetinue({
    cwd,
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models: createModels({ env: { KEY: 'secret' }, providers }),
    settings: { mode: 'dangerous' },
  })
  const run = host.run({
    task: TASK,
    model: 'it/some-model',
    ...(streaming ? { onDelta: (delta) => deltas.push(delta) } : {}),
  })
  const types: string[] = []
  for await (const event of run) types.push(event.type)
  const { duration_ms: _, run_id, session_id: __, ...result } = await run.result()
  const replayed = await host.replay(run_id)
  return { files: tree(cwd), result, types, deltas, server, replayed }
}

describe('the same task on every protocol', () => {
  const expected = {
    files: { 'hello.txt': 'hello world\n', 'words.txt': '2\n' },
    result: {
      outcome: 'completed',
      adjustments: [],
      cause: null,
      reason: null,
      text: 'hello.txt greets the world, in 2 words.',
      turns: 5,
      tool_calls: 5,
      usage: { input_tokens: 500, output_tokens: 100, cached_tokens: 200, cache_write_tokens: 0, reasoning_tokens: 0 },
      cost_usd: null,
      files_read: ['hello.txt'],
      files_changed: ['hello.txt'],
      context_tokens: 120,
    },
  }

  it.each(['chat', 'responses', 'anthropic', 'google'] as const)(
    '%s, streamed: the same files, the same text',
    async (protocol) => {
      const { files, result, deltas, server, replayed } = await runOn(protocol, true)
      expect({ files, result }).toEqual(expected)
      expect(server.requests.every((request) => request.stream)).toBe(true)
      const text = deltas.filter((delta) => delta.type === 'text').map((delta) => delta.text)
      expect(text.join('')).toBe('Looking around.Counting.hello.txt greets the world, in 2 words.')
      expect(replayed).toMatchObject({ ok: true, requests: { length: 5 } })
    },
  )

  it.each(['chat', 'responses', 'anthropic', 'google'] as const)(
    '%s, whole: the same files, the same text',
    async (protocol) => {
      const { files, result, server } = await runOn(protocol, false)
      expect({ files, result }).toEqual(expected)
      expect(server.requests.some((request) => request.stream)).toBe(false)
    },
  )
})

describe('the command line with a key and a base URL from the environment', () => {
  it.each([
    ['chat', 'openai/m', { OPENAI_API_KEY: 'secret', OPENAI_BASE_URL: '' }],
    ['anthropic', 'anthropic/m', { ANTHROPIC_API_KEY: 'secret', ANTHROPIC_BASE_URL: '' }],
  ] as const)('%s', async (protocol, model, env) => {
    const server = await startLoopback({ protocol, steps: STEPS })
    onTestFinished(() => server.close())
    const cwd = makeProject({ 'hello.txt': 'hello nobody\n' })
    const named = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value || server.url]))
    const ended = await retinue(['-p', TASK, '--model', model, '--mode', 'dangerous'], { cwd, env: named })
    expect(ended).toEqual({ code: 0, signal: null, stdout: 'hello.txt greets the world, in 2 words.\n', stderr: '' })
    expect(tree(cwd)).toEqual(expectedFiles)
  })
  const expectedFiles = { 'hello.txt': 'hello world\n', 'words.txt': '2\n' }
})
