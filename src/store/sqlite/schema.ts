import { all, type Database, rollback } from './database.js'

/** Marks the file as ours, so that a wrong path cannot make a table in somebody else's database. */
const APPLICATION = 0x52544e55

/** From one version to the next. A released one is never edited. */
const MIGRATIONS: readonly string[] = [
  `
  PRAGMA application_id = ${APPLICATION};
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
    cost_usd REAL NOT NULL,
    unpriced_calls INTEGER NOT NULL,
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
    cost_usd REAL NOT NULL,
    unpriced_calls INTEGER NOT NULL,
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
  `
  CREATE TABLE control_log (
    position INTEGER PRIMARY KEY NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    digest TEXT NOT NULL
  );
  CREATE TABLE control_head (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    position INTEGER NOT NULL,
    digest TEXT NOT NULL
  );
  INSERT INTO control_head (id, position, digest) VALUES (1, 0, '');
  CREATE TABLE home (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    inode TEXT NOT NULL,
    born TEXT NOT NULL
  );
  `,
  `
  ALTER TABLE runs ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET agents = (SELECT count(*) FROM sub_agents WHERE sub_agents.run_id = runs.run_id);
  DELETE FROM signals WHERE run_id IN (SELECT run_id FROM runs WHERE status = 'closed');
  CREATE INDEX signals_by_run ON signals (run_id, id);
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

export type Kind = { version: number; foreign: boolean }

/** What a file is. One statement, so that a migration of another process is seen whole or not at all. */
export function kindOf(database: Database): Kind {
  const statement = database.prepare(
    `SELECT (SELECT user_version FROM pragma_user_version) AS version,
       (SELECT application_id FROM pragma_application_id) AS application,
       (SELECT count(*) FROM sqlite_master) AS tables`,
  )
  const [row] = all<{ version: number; application: number; tables: number }>(statement)
  return { version: row?.version ?? 0, foreign: row !== undefined && row.tables > 0 && row.application !== APPLICATION }
}

/** Brings a database up to date. Safe with many processes at once: each looks again when it holds the lock. */
export function migrate(database: Database): void {
  while (kindOf(database).version < SCHEMA_VERSION) {
    database.exec('BEGIN IMMEDIATE')
    try {
      const { version } = kindOf(database)
      const migration = MIGRATIONS[version]
      if (migration) database.exec(`${migration} PRAGMA user_version = ${version + 1}`)
      database.exec('COMMIT')
    } catch (error) {
      rollback(database)
      throw error
    }
  }
}
