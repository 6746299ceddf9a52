import { all, type Database, rollback } from './database.js'

/** From one version to the next. A released one is never edited. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE events (
    run_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    digest TEXT NOT NULL,
    UNIQUE (run_id, position),
    UNIQUE (run_id, agent_id, seq)
  );
  CREATE TABLE streams (
    run_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, agent_id)
  ) WITHOUT ROWID;
  CREATE TABLE blobs (
    digest TEXT PRIMARY KEY NOT NULL,
    bytes BLOB NOT NULL
  );
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    workspace_root TEXT NOT NULL,
    task TEXT NOT NULL,
    text TEXT
  );
  CREATE INDEX runs_by_time ON runs (created_at, run_id);
  CREATE TABLE sub_agents (
    run_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    parent_id TEXT,
    depth INTEGER NOT NULL,
    step_idx INTEGER NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    model TEXT NOT NULL,
    context_json TEXT NOT NULL,
    PRIMARY KEY (run_id, agent_id)
  );
  CREATE TABLE signals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    by TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX signals_by_run ON signals (run_id, id);
  CREATE TABLE records (
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (type, id)
  );
  CREATE TABLE record_history (
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (type, id, version)
  );
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

export function versionOf(database: Database): number {
  return all<{ user_version: number }>(database.prepare('PRAGMA user_version'))[0]?.user_version ?? 0
}

/** Brings a database up to date. Safe with many processes at once: each looks again when it holds the lock. */
export function migrate(database: Database): void {
  while (versionOf(database) < SCHEMA_VERSION) {
    database.exec('BEGIN IMMEDIATE')
    try {
      const version = versionOf(database)
      const migration = MIGRATIONS[version]
      if (migration) database.exec(`${migration} PRAGMA user_version = ${version + 1}`)
      database.exec('COMMIT')
    } catch (error) {
      rollback(database)
      throw error
    }
  }
}
