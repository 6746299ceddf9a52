import { join } from 'node:path'
import Database from 'libsql'
import type { NewEvent } from '../src/index.js'
import { openSqliteStore } from '../src/store/index.js'
import { measure, type Sample } from './measure.js'

const CONTENT = 'x'.repeat(400)

function finished(at: number): NewEvent {
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
  const { store } = opened
  const claim = { owner: 'bench', ttl_ms: 60_000 }
  const write = async (agent_id: string, first: boolean) => {
    if (first) await store.append({ run_id: 'r', agent_id, epoch: 1, expected_seq: 0, events: [created(1)], claim })
    else await store.append({ run_id: 'r', agent_id, epoch: 1, expected_seq: 0, events: [finished(1)], claim })
    for (let i = 0, seq = 1; i < count / agents; i++, seq += 2) {
      const events = [finished(i), finished(i)]
      const written = await store.append({ run_id: 'r', agent_id, epoch: 1, expected_seq: seq, events })
      if (!written.ok) throw new Error(written.message)
    }
  }
  const sample = await measure(async () => {
    const first = write('a0', true)
    await Promise.all([first, ...Array.from({ length: agents - 1 }, (_, i) => write(`a${i + 1}`, false))])
  })
  await store.close()
  return sample
}
