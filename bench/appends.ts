import { join } from 'node:path'
import Database from 'libsql'
import type { NewEvent } from '../src/index.js'
import { openSqliteStore, type Store } from '../src/store/index.js'
import { measure, type Sample } from './measure.js'

const CONTENT = 'x'.repeat(400)

export function finished(at: number): NewEvent {
  const data = { call_id: 'c1', tool: 'read_file', status: 'ok' as const, content: CONTENT, output: null }
  return { type: 'tool.finished', version: 1, at, data: { ...data, files_read: [], files_changed: [], duration_ms: 1 } }
}

function created(at: number): NewEvent {
  const sandbox = { kind: 'none', reason: '' }
  const data = { session_id: 's', task: 't', workspace_root: '/', retinue_version: '0', platform: '', sandbox }
  return { type: 'run.created', version: 1, at, data: { ...data, mcp_servers: [], notes: [] } }
}

/** The same two rows in a transaction, with nothing checked, chained or projected. */
export async function bareAppends(folder: string, count: number): Promise<Sample> {
  const db = new Database(join(folder, 'bare.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE events (run_id TEXT, position INTEGER, data TEXT, UNIQUE (run_id, position))')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
  const commit = db.prepare('COMMIT')
  let position = 0
  const sample = await measure(async () => {
    for (let i = 0; i < count; i++) {
      begin.run()
      insert.run(['r', ++position, JSON.stringify(finished(i).data)])
      insert.run(['r', ++position, JSON.stringify(finished(i).data)])
      commit.run()
    }
  })
  db.close()
  return sample
}

/** One append of two events after the other, as one agent makes them; or of many agents at once. */
export async function ourAppends(folder: string, agents: number, count: number): Promise<Sample> {
  const opened = await openSqliteStore({ file: join(folder, `ours-${agents}.db`), clock: { now: () => Date.now() } })
  if (!opened.ok) throw new Error(opened.message)
  const { sample } = await appendTo(opened.store, agents, count)
  await opened.store.close()
  return sample
}

/** To one run of a store. `each_ms`: how long every append took to be durable. */
export async function appendTo(
  store: Store,
  agents: number,
  count: number,
): Promise<{ sample: Sample; each_ms: number[] }> {
  const claim = { owner: 'bench', ttl_ms: 60_000 }
  const run_id = `r${agents}`
  const each_ms: number[] = []
  const first = { run_id, agent_id: 'a0', epoch: 1, expected_seq: 0, events: [created(1)], claim }
  const write = async (agent_id: string) => {
    if (agent_id !== 'a0') await store.append({ ...first, agent_id, events: [finished(1)] })
    for (let i = 0, seq = 1; i < count / agents; i++, seq += 2) {
      const events = [finished(i), finished(i)]
      const began = performance.now()
      const written = await store.append({ run_id, agent_id, epoch: 1, expected_seq: seq, events })
      if (!written.ok) throw new Error(written.message)
      each_ms.push(performance.now() - began)
    }
  }
  const sample = await measure(async () => {
    await store.append(first)
    await Promise.all(Array.from({ length: agents }, (_, i) => write(`a${i}`)))
  })
  return { sample, each_ms }
}
