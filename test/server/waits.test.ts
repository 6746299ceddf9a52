import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createRetinue, type Retinue } from '../../src/index.js'
import { scripted, served } from './routes-lab.js'

/** A run of a process that hears nothing, and another Retinue that asks something of it. */
async function deaf() {
  const worker = await scripted('agents: { root: [{ delay_ms: 600000, text: Never. }] }')
  const run = worker.run({ task: 'Work' })
  run.result().catch(() => {})
  for await (const event of run) if (event.type === 'model.requested') break
  const signals = worker.store.signals.bind(worker.store)
  worker.store.signals = async () => []
  const other = await createRetinue({ cwd: worker.cwd, env: {} })
  return { other, run_id: run.run_id, sent: async () => (await signals({ after: 0 })).map(({ kind }) => kind) }
}

async function isQuiet({ store }: Retinue): Promise<void> {
  const looks = vi.spyOn(store, 'run')
  await sleep(500)
  expect(looks).not.toHaveBeenCalled()
  looks.mockRestore()
}

it.each([
  ['pause', (one: Retinue, id: string, signal: AbortSignal) => one.pause(id, 'anna', 'lunch', { signal })],
  ['cancel', (one: Retinue, id: string, signal: AbortSignal) => one.cancel(id, 'anna', 'lunch', { signal })],
] as const)(
  '%s: many who ask at once leave one word in the store, and nothing waits when they do not',
  async (kind, ask) => {
    const { other, run_id, sent } = await deaf()
    const over = new AbortController()
    const asked = Array.from({ length: 20 }, () => ask(other, run_id, over.signal).catch((error: Error) => error.name))
    await vi.waitFor(async () => expect(await sent()).toEqual([kind]), { timeout: 100_000 })
    over.abort()
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['AbortError']))
    expect(await sent()).toEqual([kind])
    await isQuiet(other)
    // Asked anew it is said anew: whoever works on the run may be another by now.
    const anew = new AbortController()
    const again = ask(other, run_id, anew.signal).catch((error: Error) => error.name)
    await vi.waitFor(async () => expect(await sent()).toEqual([kind, kind]), { timeout: 100_000 })
    anew.abort()
    expect(await again).toBe('AbortError')
    await other.close()
  },
)

it('a window that is closed while it waits leaves nothing that waits', async () => {
  const { other, run_id, sent } = await deaf()
  const window = await served(other)
  const headers = { authorization: window.authorization, 'content-type': 'application/json' }
  for (const path of ['pause', 'cancel']) {
    const gone = new AbortController()
    const init = { method: 'POST', headers, body: '{}', signal: gone.signal }
    const asked = fetch(`${window.url}/runs/${run_id}/${path}`, init).catch(() => null)
    await vi.waitFor(async () => expect(await sent()).toContain(path), { timeout: 100_000 })
    gone.abort()
    await asked
    await sleep(300)
    await isQuiet(other)
  }
})
