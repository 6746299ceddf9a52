import { expect, it } from 'vitest'
import type { Delta } from '../../src/index.js'
import { wireProxy } from '../store/wire-proxy.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const SAID = `Slates, ${'one after the other, '.repeat(200)}and no more.`

/** The first answer shows that words come; the second comes after a while. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      { reasoning: 'Let me see.', text: SAID, calls: [{ read_file: { path: 'roof.md' } }] },
      { delay_ms: 1500, text: 'They are "all" there.' },
    ],
  },
})

const SETTINGS = { model: { name: 'scripted/script.yaml', source: 'user' as const } }

async function opened(finished: WhenFinished, script = SCRIPT) {
  const store = await (await sharedPostgres()).database({ finished })
  const cwd = makeProject({ 'script.yaml': script, 'roof.md': '412\n' }, { finished })
  await startWorkers(1, { cwd, store, settings: SETTINGS }, finished)
  const proxy = await wireProxy(store, finished)
  return { store, proxy, face: await openFace({ cwd, store: proxy.url, settings: SETTINGS }, finished) }
}

const told = (deltas: Delta[], type: Delta['type']) =>
  deltas.filter((delta) => delta.type === type).map(({ text }) => text)

it('what an agent says on a worker is heard while it says it', async ({ onTestFinished }) => {
  const { face } = await opened(onTestFinished)
  const deltas: Delta[] = []
  const run = face.run({ task: 'Count', onDelta: (delta) => void deltas.push(delta) })
  for await (const { type } of run) {
    // The second answer takes longer than that.
    if (type === 'tool.finished') await expect.poll(() => told(deltas, 'text').join('')).toBe(SAID)
  }
  await run.result()
  // From the log it would be one piece.
  expect(told(deltas, 'text').length).toBeGreaterThan(100)
  expect(told(deltas, 'text').join('')).toBe(`${SAID}They are "all" there.`)
  expect(told(deltas, 'reasoning').join('')).toBe('Let me see.')
})

it('where nobody can be told, the log says it, once', async ({ onTestFinished }) => {
  const { face, proxy } = await opened(onTestFinished)
  const deltas: Delta[] = []
  const run = face.run({ task: 'Count', onDelta: (delta) => void deltas.push(delta) })
  for await (const { type } of run) {
    if (type === 'tool.finished') expect(proxy.hush((sent) => sent.includes('LISTEN retinue_words'))).toBe(1)
  }
  await run.result()
  expect(told(deltas, 'text').at(-1)).toBe('They are "all" there.')
  expect(told(deltas, 'text').join('')).toBe(`${SAID}They are "all" there.`)
})

it('whoever listens is heard to listen again after the connection is lost', async ({ onTestFinished }) => {
  const again = [
    { text: SAID, calls: [{ read_file: { path: 'roof.md' } }] },
    { delay_ms: 8000, text: SAID },
  ]
  const { face, store } = await opened(onTestFinished, JSON.stringify({ agents: { root: again } }))
  const listening = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN retinue_words%'`
  const deltas: Delta[] = []
  const run = face.run({ task: 'Count', onDelta: (delta) => void deltas.push(delta) })
  for await (const { type } of run) {
    if (type !== 'tool.finished') continue
    await expect.poll(() => told(deltas, 'text').join('')).toBe(SAID)
    deltas.length = 0
    expect(await queried(store, `SELECT pg_terminate_backend(pid) ${listening}`)).toHaveLength(1)
    // Before the second answer.
    await expect.poll(() => queried(store, `SELECT 1 ${listening}`)).toHaveLength(1)
  }
  await run.result()
  // From the log it would be one piece.
  expect(told(deltas, 'text').length).toBeGreaterThan(100)
  expect(told(deltas, 'text').join('')).toBe(SAID)
})
