import { expect, it, vi } from 'vitest'
import type { Store, StoredEvent } from '../../src/index.js'
import { Streams } from '../../src/server/routes/streams.js'
import { scripted, served } from './routes-lab.js'

const LONG = 'x'.repeat(1_500_000)

it('a page of events ends before it is too large, and the next goes on there', async () => {
  const steps = Array.from({ length: 5 }, () => `{ text: ${LONG}, calls: [{ list_dir: {} }] }`)
  const retinue = await scripted(`agents: { root: [${steps.join(', ')}, { text: Done. }] }`)
  const window = await served(retinue)
  const { run_id } = await retinue.run({ task: 'Say a lot', budget: { total_tokens: 1e9 } }).result()
  const events = await retinue.events(run_id)
  const pages = async (path: string) => {
    const found: { events: StoredEvent[]; more: boolean }[] = []
    for (let after = 0; found.at(-1)?.more !== false; after = found.at(-1)?.events.at(-1)?.position as number) {
      found.push((await window.get(`${path}?limit=1000&after=${after}`)).body as (typeof found)[number])
    }
    return found
  }
  const own = await pages(`/runs/${run_id}/agents/root/events`)
  expect(own.length).toBeGreaterThan(1)
  for (const page of own) expect(JSON.stringify(page).length).toBeLessThan(4_100_000)
  expect(own.flatMap((page) => page.events)).toEqual(JSON.parse(JSON.stringify(events)))
  // There long texts are cut short, so that all of them have room.
  const watched = await pages(`/runs/${run_id}/events`)
  expect(watched.map((page) => page.events.length)).toEqual([events.length])
})

it('a diff and results that are too long for an answer are cut, and it says so', async () => {
  const retinue = await scripted('agents: { root: [{ text: Done. }] }')
  const window = await served(retinue)
  const { run_id } = await retinue.run({ task: 'Work' }).result()
  const line = '+'.repeat(999)
  retinue.diff = async () => `${line}\n`.repeat(9000)
  for (const path of [`/runs/${run_id}/diff`, `/runs/${run_id}/agents/root/diff`]) {
    const { diff, cut } = (await window.get(path)).body as { diff: string; cut: boolean }
    expect([diff.length, diff.endsWith(`\n${line}\n`), cut]).toEqual([8_000_000, true, true])
  }
  retinue.diff = async () => 'short\n'
  expect((await window.get(`/runs/${run_id}/diff`)).body).toEqual({ diff: 'short\n', cut: false })
  const result = { details: LONG } as Awaited<ReturnType<typeof retinue.spawnResults>>[number]
  retinue.spawnResults = async () => Array.from({ length: 9 }, () => result)
  const { results, more } = (await window.get(`/runs/${run_id}/results`)).body as { results: unknown[]; more: boolean }
  expect([results.length, more]).toEqual([5, true])
})

it('streams are kept by how long they are, not by how many events they have', async () => {
  const read = vi.fn(async ({ agent_id, after_seq = 0 }: Parameters<Store['read']>[0]) =>
    after_seq > 0 ? [] : [{ seq: 1, data: 'x'.repeat(agent_id === 'a9' ? 17_000_000 : 5_000_000) } as never],
  )
  const streams = new Streams()
  const kept = async (agent: string) => {
    await streams.read({ read } as unknown as Store, 'run', agent)
    return read.mock.lastCall?.[0].after_seq === 1
  }
  expect([await kept('a1'), await kept('a2'), await kept('a3')]).toEqual([false, false, false])
  expect([await kept('a1'), await kept('a2'), await kept('a3')]).toEqual([true, true, true])
  // The one that was asked for longest ago makes room.
  expect([await kept('a4'), await kept('a2'), await kept('a1')]).toEqual([false, true, false])
  expect([await kept('a9'), await kept('a9')]).toEqual([false, false])
})
