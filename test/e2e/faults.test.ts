import { describe, expect, it } from 'vitest'
import { createModels, createRetinue, type StoredEvent } from '../../src/index.js'
import { createMemoryStore } from '../../src/store/index.js'
import { type LoopbackFault, type LoopbackStep, type ProtocolName, startLoopback } from '../support/loopback/index.js'
import { makeProject, type WhenFinished } from '../support/project.js'

/** Far more than any of these takes, and less than the retries of a fault that is not noticed would. */
const WALL_MS = 20_000
const ANSWER: LoopbackStep = { text: 'Fine after all.' }

/** One run against a server with a fault, as a person watches it: streamed, under a deadline. */
async function runWith(
  protocol: ProtocolName,
  steps: LoopbackStep[],
  settings: { max_attempts?: number; wall_ms?: number; finished: WhenFinished },
) {
  const { finished } = settings
  const cwd = makeProject({ 'a.txt': 'a\n' }, { finished })
  const server = await startLoopback({ protocol, steps })
  finished(() => server.close())
  const type = protocol === 'anthropic' ? ('anthropic' as const) : ('openai' as const)
  const api = protocol === 'anthropic' || protocol === 'google' ? {} : { api: protocol }
  const { wall_ms = WALL_MS, max_attempts = 2 } = settings
  const idle_timeout_ms = steps.some((step) => step.fault?.kind === 'stall') ? 1000 : 60_000
  const retinue = await createRetinue({
    cwd,
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models: createModels({
      env: { KEY: 'sk-very-secret' },
      providers: { it: { type, base_url: server.url, api_key_env: 'KEY', idle_timeout_ms, ...api } },
    }),
    settings: { max_attempts },
  })
  const started = performance.now()
  const run = retinue.run({ task: 'Say something', model: 'it/m', budget: { wall_ms }, onDelta: () => {} })
  const events: StoredEvent[] = []
  for await (const event of run) events.push(event)
  const result = await run.result()
  expect(performance.now() - started).toBeLessThan(wall_ms + 8000)
  expect(JSON.stringify(events)).not.toContain('sk-very-secret')
  const failures = events.flatMap((event) => (event.type === 'model.failed' ? [event.data] : []))
  return { result, failures, events, server }
}

const status = (code: number, headers: Record<string, string> = {}): LoopbackFault => ({
  kind: 'status',
  status: code,
  headers,
})

describe.concurrent.each(['chat', 'responses', 'anthropic'] as const)(
  'faults of a model that speaks %s',
  (protocol) => {
    it.for([
      ['401', status(401), 'auth', 1],
      ['400', status(400), 'bad_request', 1],
      ['a body that is no JSON', { kind: 'garbage' }, 'bad_output', 2],
      ['an empty answer', { kind: 'empty' }, 'bad_output', 2],
      ['500', status(500), 'overloaded', 2],
      ['529', status(529), 'overloaded', 2],
      ['429', status(429, { 'retry-after': '0' }), 'rate_limited', 2],
      ['a connection cut in the middle', { kind: 'cut', after_bytes: 40, how: 'fin' }, 'network', 2],
      ['a connection reset in the middle', { kind: 'cut', after_bytes: 40, how: 'rst' }, 'network', 2],
      ['a stream that falls silent', { kind: 'stall', after_bytes: 40 }, 'network', 2],
    ] as [string, LoopbackFault, string, number][])(
      '%s: error, typed, after as many calls as it is worth',
      async ([, fault, code, calls], { onTestFinished: finished }) => {
        const { result, failures, server } = await runWith(protocol, [{ ...ANSWER, fault }], { finished })
        expect(result).toMatchObject({ outcome: 'error', cause: code, text: '' })
        expect(failures.map((failure) => failure.code)).toEqual(Array(calls).fill(code))
        expect(server.requests).toHaveLength(calls)
      },
    )

    it.for([
      ['429 with retry-after', status(429, { 'retry-after': '1' }), 1000],
      ['529', status(529), 500],
      ['a cut connection', { kind: 'cut', after_bytes: 40, how: 'fin' }, 500],
    ] as [string, LoopbackFault, number][])(
      '%s once: waits, asks again, and completes',
      async ([, fault, wait], { onTestFinished: finished }) => {
        const steps = [{ ...ANSWER, fault: { ...fault, times: 1 } }]
        const { result, failures, events } = await runWith(protocol, steps, { finished })
        expect(result).toMatchObject({ outcome: 'completed', text: 'Fine after all.' })
        expect(failures).toHaveLength(1)
        const failed = events.findIndex((event) => event.type === 'model.failed')
        const again = events[failed + 1] as StoredEvent
        expect(again).toMatchObject({ type: 'model.requested', data: { attempt: 2 } })
        expect(again.at - (events[failed] as StoredEvent).at).toBeGreaterThanOrEqual(wait)
      },
    )

    it('a retry-after beyond the deadline ends the run now, not then', async ({ onTestFinished: finished }) => {
      const { result, server } = await runWith(
        protocol,
        [{ ...ANSWER, fault: status(429, { 'retry-after': '3600' }) }],
        {
          max_attempts: 5,
          finished,
        },
      )
      expect(result).toMatchObject({ outcome: 'error', cause: 'rate_limited' })
      expect(result.reason).toContain('no time left')
      expect(server.requests).toHaveLength(1)
    })

    it('a stream that never ends: timeout, at the deadline', async ({ expect, onTestFinished: finished }) => {
      const fault: LoopbackFault = { kind: 'trickle', every_ms: 50 }
      const { result, server } = await runWith(protocol, [{ ...ANSWER, fault }], { wall_ms: 5000, finished })
      expect(result).toMatchObject({ outcome: 'timeout', cause: 'wall_ms' })
      await expect.poll(() => server.requests[0]?.aborted).toBe(true)
    })

    it('invalid JSON in tool arguments: the model is told, and gets another chance', async ({
      onTestFinished: finished,
    }) => {
      const steps = [
        { calls: [{ name: 'read_file', args: '{"path": "a.tx' }] },
        { calls: [{ name: 'read_file', args: { path: 'a.txt' } }] },
        ANSWER,
      ]
      const { result, events } = await runWith(protocol, steps, { finished })
      expect(result).toMatchObject({ outcome: 'completed', tool_calls: 1, files_read: ['a.txt'] })
      expect(events.find((event) => event.type === 'tool.refused')).toMatchObject({
        data: { tool: 'read_file', code: 'invalid_arguments' },
      })
    })
  },
)

describe('a server that is not there', () => {
  it('is a network error that names it, after the retries', async () => {
    const server = await startLoopback({ protocol: 'chat', steps: [] })
    await server.close()
    const retinue = await createRetinue({
      cwd: makeProject({}),
      store: createMemoryStore({ clock: { now: () => Date.now() } }),
      models: createModels({ env: {}, providers: { it: { type: 'openai-compatible', base_url: server.url } } }),
      settings: { max_attempts: 2 },
    })
    const result = await retinue.run({ task: 'Say something', model: 'it/m' }).result()
    expect(result).toMatchObject({ outcome: 'error', cause: 'network' })
    expect(result.reason).toContain('127.0.0.1')
  })
})
