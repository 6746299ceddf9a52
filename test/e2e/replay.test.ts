import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createModels, createRetinue, type StoredEvent } from '../../src/index.js'
import { lines, retinue } from '../support/cli.js'
import { longRunProject } from '../support/long-run.js'
import { startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'

async function finishedRun(): Promise<{ cwd: string; run_id: string; events: StoredEvent[] }> {
  const cwd = longRunProject()
  const ended = await retinue(
    ['-p', 'Do the work', '--model', 'scripted/script.yaml', '--mode', 'dangerous', '--output-format', 'stream-json'],
    { cwd },
  )
  expect(ended.code).toBe(0)
  const out = lines(ended.stdout) as (StoredEvent | { type: 'result'; run_id: string })[]
  const events = out.filter((line): line is StoredEvent => line.type !== 'result')
  return { cwd, run_id: (events[0] as StoredEvent).run_id, events }
}

const dbOf = (cwd: string) => new Database(`${cwd}/.retinue/retinue.db`)

describe('replay', () => {
  it('rebuilds every request byte for byte, as the provider got it', async () => {
    const server = await startLoopback({
      protocol: 'chat',
      steps: [
        {
          text: 'One.',
          calls: [
            { name: 'read_file', args: { path: 'a.txt' } },
            { name: 'list_dir', args: {} },
          ],
        },
        { calls: [{ name: 'write_file', args: { path: 'b.txt', content: 'ü"\\\n' } }] },
        { text: 'Done.' },
      ],
    })
    onTestFinished(() => server.close())
    const cwd = makeProject({ 'a.txt': 'a\n' })
    const providers = {
      it: { type: 'openai' as const, api: 'chat' as const, base_url: server.url, api_key_env: 'KEY' },
    }
    const first = await createRetinue({
      cwd,
      models: createModels({ env: { KEY: 'k' }, providers }),
      settings: { mode: 'auto' },
    })
    const { run_id, outcome } = await first.run({ task: 'Copy it', model: 'it/m' }).result()
    expect(outcome).toBe('completed')
    await first.close()

    // Another process, or another day: only the file is left. What it rebuilds is sent once more, and compared.
    const second = await createRetinue({ cwd, models: createModels({ env: { KEY: 'k' }, providers }) })
    onTestFinished(() => second.close())
    const replayed = await second.replay(run_id)
    expect(replayed.ok).toBe(true)
    const sent = server.requests.map((request) => JSON.stringify(request.body))
    const choice = await second.models.resolve('it/m')
    for (const { request } of replayed.requests) {
      if (choice.ok)
        await choice.model.generate(request, {
          signal: new AbortController().signal,
          caller: { run_id, agent_id: 'root', request_id: 'x', purpose: 'turn', attempt: 1 },
        })
    }
    expect(server.requests.slice(sent.length).map((request) => JSON.stringify(request.body))).toEqual(sent)
    expect(sent).toHaveLength(3)
  })

  it('says at which event a payload was changed, whichever it was', async () => {
    const { cwd, run_id, events } = await finishedRun()
    const db = dbOf(cwd)
    for (const { seq } of events.filter((_, i) => i % 4 === 0)) {
      const [row] = db.prepare('SELECT data FROM events WHERE run_id = ? AND seq = ?').all(run_id, seq) as {
        data: string
      }[]
      const { data } = row as { data: string }
      const tampered = data.replace(/[a-z0-9](?="[,}])/, '#')
      expect(tampered).not.toBe(data)
      db.prepare('UPDATE events SET data = ? WHERE run_id = ? AND seq = ?').run(tampered, run_id, seq)
      const replayed = await retinue(['replay', run_id], { cwd })
      expect(replayed.code).toBe(1)
      expect(replayed.stderr).toContain(`event ${seq} `)
      db.prepare('UPDATE events SET data = ? WHERE run_id = ? AND seq = ?').run(data, run_id, seq)
    }
    db.close()
    expect((await retinue(['replay', run_id], { cwd })).code).toBe(0)
  }, 60_000)

  it('finds a change whose author also mended the digests: the requests do not come out the same', async () => {
    const { cwd, run_id, events } = await finishedRun()
    const { eventDigest } = await import('../../src/store/index.js')
    const victim = events.find((event) => event.type === 'tool.finished') as StoredEvent
    const next = events.find((event) => event.type === 'model.requested' && event.seq > victim.seq) as StoredEvent
    const db = dbOf(cwd)
    const rows = db
      .prepare('SELECT seq, type, version, at, data FROM events WHERE run_id = ? ORDER BY seq')
      .all(run_id) as {
      seq: number
      type: string
      version: number
      at: number
      data: string
    }[]
    let digest = ''
    for (const row of rows) {
      const data = row.seq === victim.seq ? row.data.replace('"content":"', '"content":"lies ') : row.data
      digest = eventDigest(digest, { run_id, agent_id: 'root' }, row, data)
      db.prepare('UPDATE events SET data = ?, digest = ? WHERE run_id = ? AND seq = ?').run(
        data,
        digest,
        run_id,
        row.seq,
      )
    }
    db.prepare('UPDATE streams SET digest = ? WHERE run_id = ?').run(digest, run_id)
    db.close()
    const replayed = await retinue(['replay', run_id], { cwd })
    expect(replayed.code).toBe(1)
    expect(replayed.stderr).toContain(
      `event ${next.seq} of agent root: the request rebuilt from the log is not the one that was sent`,
    )
  })
})
