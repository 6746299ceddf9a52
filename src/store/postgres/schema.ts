import { type Client, LOCK_MS } from './connections.js'
import { OVERTAKEN } from './failures.js'

const NAMES = [
  ...['events', 'streams', 'blobs', 'runs', 'sub_agents', 'signals', 'signal_head', 'records', 'record_history'],
  ...['control_log', 'control_head', 'writers'],
] as const

/** The tables, each with its schema. */
export type Tables = Record<(typeof NAMES)[number], string> & { must: string }

export function tablesOf(schema: string): Tables {
  const named = (name: string) => `"${schema}".${name}`
  return { ...Object.fromEntries(NAMES.map((name) => [name, named(name)])), must: named('must') } as Tables
}

/** The server's clock in milliseconds, as the statement is done. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const COUNTERS = `
    turns bigint NOT NULL,
    tool_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    cost_usd double precision NOT NULL,
    unpriced_calls bigint NOT NULL`

/**
 * From one version to the next, with the schema as the only place where names are looked up. A released one is never
 * edited. Ids sort by their bytes, as in the other stores. Rows that change often leave room for their next version on
 * the same page.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE FUNCTION must(holds boolean) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT holds THEN
      RAISE EXCEPTION 'another transaction was faster' USING ERRCODE = '${OVERTAKEN}';
    END IF;
  END $$;
  CREATE TABLE events (
    run_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    version integer NOT NULL,
    at bigint NOT NULL,
    data text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (run_id, position),
    UNIQUE (run_id, agent_id, seq)
  );
  CREATE TABLE streams (
    run_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    digest text NOT NULL,
    epoch bigint NOT NULL,
    owner text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (run_id, agent_id)
  ) WITH (fillfactor = 70);
  CREATE TABLE blobs (
    digest text COLLATE "C" PRIMARY KEY,
    bytes bytea NOT NULL
  );
  CREATE TABLE runs (
    run_id text COLLATE "C" PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    task text NOT NULL,
    workspace_root text NOT NULL,
    status text NOT NULL,
    outcome text,
    text text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_position bigint NOT NULL,
    agents bigint NOT NULL,${COUNTERS}
  ) WITH (fillfactor = 70);
  CREATE INDEX runs_by_time ON runs (created_at, run_id);
  CREATE TABLE sub_agents (
    run_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    created_position bigint NOT NULL,
    parent_id text,
    depth bigint NOT NULL,
    step_idx bigint NOT NULL,
    state text NOT NULL,
    outcome text,
    model text NOT NULL,
    context_json text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,${COUNTERS},
    PRIMARY KEY (run_id, agent_id)
  ) WITH (fillfactor = 70);
  CREATE TABLE signals (
    id bigint PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    data text NOT NULL,
    by text NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX signals_by_run ON signals (run_id, id);
  CREATE TABLE signal_head (
    id integer PRIMARY KEY CHECK (id = 1),
    last bigint NOT NULL
  );
  INSERT INTO signal_head (id, last) VALUES (1, 0);
  CREATE TABLE records (
    type text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    value text NOT NULL,
    at bigint NOT NULL,
    by text NOT NULL,
    PRIMARY KEY (type, id)
  );
  CREATE TABLE record_history (
    type text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    value text,
    at bigint NOT NULL,
    by text NOT NULL,
    PRIMARY KEY (type, id, version)
  );
  CREATE TABLE control_log (
    position bigint PRIMARY KEY,
    type text NOT NULL,
    version integer NOT NULL,
    at bigint NOT NULL,
    data text NOT NULL,
    digest text NOT NULL
  );
  CREATE TABLE control_head (
    id integer PRIMARY KEY CHECK (id = 1),
    position bigint NOT NULL,
    digest text NOT NULL
  );
  INSERT INTO control_head (id, position, digest) VALUES (1, 0, '');
  CREATE TABLE writers (
    writer text COLLATE "C" PRIMARY KEY,
    last bigint NOT NULL,
    at timestamptz NOT NULL
  ) WITH (fillfactor = 70);
  `,
  // A team's database has many sessions, and each task of one begins with what was said before.
  'CREATE INDEX runs_by_session ON runs (session_id, created_at, run_id)',
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Marks the schema as ours, so that a wrong name cannot make tables among somebody else's. */
const APPLICATION = 'retinue'

/** Who has not written for so long writes no more, or has nothing left to ask about. */
const WRITERS_KEPT = '7 days'

export type Kind = { version: number; foreign: boolean; exists: boolean }

/** What a schema is. Version 0 is one that has no tables yet. */
export async function kindOf(client: Client, schema: string): Promise<Kind> {
  const { rows } = await client.query(
    `SELECT to_regclass($1) IS NOT NULL AS ours, n.oid IS NOT NULL AS exists,
       EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid) AS used
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace n ON n.nspname = $2`,
    [`"${schema}".schema_version`, schema],
  )
  const { ours, exists, used } = rows[0]
  if (!ours) return { version: 0, foreign: used, exists }
  const { rows: versions } = await client.query(`SELECT application, version FROM "${schema}".schema_version`)
  const [row] = versions
  return { version: row?.version ?? 0, foreign: row?.application !== APPLICATION, exists }
}

/** Large tables take their time, for whoever changes them and for those who wait for that. */
const MIGRATION_MS = 60 * 60 * 1000

/** Brings a schema up to date in one transaction. Of many processes that start at once one does it, the others wait. */
export async function migrate(client: Client, schema: string): Promise<Kind> {
  const slowly = (text: string, values: string[] = []) => {
    const query = { text, values, query_timeout: MIGRATION_MS }
    return client.query(query)
  }
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  await client.query(`SET LOCAL statement_timeout = ${MIGRATION_MS}; SET LOCAL lock_timeout = ${MIGRATION_MS}`)
  await slowly('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`retinue schema ${schema}`])
  // Whoever writes would stand behind one that waits for a table.
  await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
  const kind = await kindOf(client, schema)
  if (kind.foreign || kind.version >= SCHEMA_VERSION) {
    await client.query('ROLLBACK')
    return kind
  }
  // Asked for only where it is needed: it takes a right that whoever was given a schema need not have.
  if (!kind.exists) await client.query(`CREATE SCHEMA "${schema}"`)
  await client.query(`SET LOCAL search_path TO "${schema}"`)
  if (kind.version === 0) {
    await client.query('CREATE TABLE schema_version (application text NOT NULL, version integer NOT NULL)')
    await client.query(`INSERT INTO schema_version VALUES ('${APPLICATION}', 0)`)
  }
  for (const migration of MIGRATIONS.slice(kind.version)) await slowly(migration)
  await client.query('UPDATE schema_version SET version = $1', [SCHEMA_VERSION])
  await client.query('COMMIT')
  return { version: SCHEMA_VERSION, foreign: false, exists: true }
}

export async function forgetWriters(client: Client, { writers }: Tables): Promise<void> {
  // One that is locked writes just now. It is not waited for.
  const old = `SELECT writer FROM ${writers} WHERE at < now() - interval '${WRITERS_KEPT}' FOR UPDATE SKIP LOCKED`
  await client.query(`DELETE FROM ${writers} WHERE writer IN (${old})`)
}
