import type { AgentRow, RunRow, StoredEvent } from '../../domain/index.js'
import { AGENT_COLUMNS, RUN_COLUMNS } from '../columns.js'
import { checkedBlob, type EventRow, eventOf } from '../rows.js'
import type { EventQuery, RunQuery, Tampering } from '../store.js'
import { type Head, RunCheck } from '../verify.js'
import { bound, type Client, type Connections } from './connections.js'
import type { Tables } from './schema.js'

const PAGE = 500

/** What can be seen. */
export class Reader {
  readonly #statements

  constructor(
    readonly connections: Connections,
    tables: Tables,
  ) {
    this.#statements = prepare(tables)
  }

  async events({ run_id, agent_id, after = 0, after_seq = 0, limit }: EventQuery): Promise<StoredEvent[]> {
    const { ofRun, ofAgent } = this.#statements
    const { connections } = this
    const most = limit ?? null
    const rows =
      agent_id === undefined
        ? await connections.all<EventRow>(ofRun, run_id, after, most)
        : await connections.all<EventRow>(ofAgent, run_id, agent_id, after_seq, after, most)
    return rows.map(eventOf)
  }

  async blob(digest: string): Promise<Uint8Array | null> {
    const from = (start: number) =>
      this.connections.first<{ size: number; bytes: Buffer }>(this.#statements.blob, digest, start + 1, PIECE)
    const first = await from(0)
    if (!first) return null
    const pieces = [first.bytes]
    for (let at = PIECE; at < first.size; at += PIECE) pieces.push((await from(at))?.bytes ?? Buffer.alloc(0))
    return checkedBlob(digest, new Uint8Array(Buffer.concat(pieces)))
  }

  runs({ session_id, status, id_prefix, before, limit }: RunQuery): Promise<RunRow[]> {
    const { runs, runsBefore } = this.#statements
    const wanted = [session_id ?? null, status ?? null, id_prefix ?? '', limit ?? null]
    if (before === undefined) return this.connections.all(runs, ...wanted)
    return this.connections.all(runsBefore, ...wanted, before)
  }

  async run(run_id: string): Promise<RunRow | null> {
    return (await this.connections.first<RunRow>(this.#statements.run, run_id)) ?? null
  }

  /** Nothing but that: whoever follows a run asks it whenever something happens. */
  async isClosed(run_id: string): Promise<boolean> {
    const row = await this.connections.first<{ status: RunRow['status'] }>(this.#statements.status, run_id)
    return row?.status === 'closed'
  }

  agents(run_id: string, states?: readonly AgentRow['state'][]): Promise<AgentRow[]> {
    if (!states) return this.connections.all(this.#statements.agents, run_id)
    return this.connections.all(this.#statements.agentsIn, run_id, [...states])
  }

  async agent(run_id: string, agent_id: string): Promise<AgentRow | null> {
    return (await this.connections.first<AgentRow>(this.#statements.agent, run_id, agent_id)) ?? null
  }

  verify(run_id: string): Promise<Tampering | null> {
    return inOneSnapshot(this.connections, async (client) => {
      const check = new RunCheck()
      for await (const row of eventRows(client, this.#statements.ofRun, run_id)) {
        const found = check.row(row)
        if (found) return found
      }
      const { rows: heads } = await client.query<Head>(bound(this.#statements.heads, run_id))
      const { rows } = await client.query<RunRow>(bound(this.#statements.run, run_id))
      return check.end(heads, rows[0]?.last_position ?? 0)
    })
  }
}

/** An append between two statements would look like tampering. */
export function inOneSnapshot<T>(connections: Connections, work: (client: Client) => Promise<T>): Promise<T> {
  const attempt = () =>
    connections.with(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const result = await work(client)
      await client.query('COMMIT')
      return result
    })
  return connections.patiently(attempt, 'read')
}

export const eventsOfRun = ({ events }: Pick<Tables, 'events'>) => ({
  name: 'events_of_run',
  text: `SELECT ${EVENT_COLUMNS} FROM ${events} WHERE run_id = $1 AND position > $2 ORDER BY position LIMIT $3`,
})

/** Every row of a run, in pages. */
export async function* eventRows(
  client: Client,
  ofRun: ReturnType<typeof eventsOfRun>,
  run_id: string,
): AsyncGenerator<EventRow> {
  for (let after = 0; ; ) {
    const { rows } = await client.query<EventRow>(bound(ofRun, run_id, after, PAGE))
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.position
  }
}

/** Of a blob so much is asked for at once, which comes as twice as much: a slow network has that in half a minute. */
const PIECE = 512 * 1024

const EVENT_COLUMNS = 'run_id, position, agent_id, seq, type, version, at, data, digest'

function prepare(tables: Tables) {
  const { events, blobs, runs, sub_agents, streams } = tables
  const runColumns = RUN_COLUMNS.join(', ')
  const wanted = `SELECT ${runColumns} FROM ${runs}
    WHERE ($1::text IS NULL OR session_id = $1) AND ($2::text IS NULL OR status = $2) AND starts_with(run_id, $3)`
  const newestFirst = 'ORDER BY created_at DESC, run_id DESC LIMIT $4'
  return {
    ofRun: eventsOfRun(tables),
    // Within a stream the order of seq is that of position, and it has the index. With a bare position PostgreSQL might
    // choose the index of that and look at the events of every agent of the run.
    ofAgent: {
      name: 'events_of_agent',
      text: `SELECT ${EVENT_COLUMNS} FROM ${events}
        WHERE run_id = $1 AND agent_id = $2 AND seq > $3 AND position + 0 > $4 ORDER BY seq LIMIT $5`,
    },
    blob: {
      name: 'blob',
      text: `SELECT octet_length(bytes) AS size, substring(bytes FROM $2::integer FOR $3::integer) AS bytes
        FROM ${blobs} WHERE digest = $1`,
    },
    runs: { name: 'runs', text: `${wanted} ${newestFirst}` },
    runsBefore: {
      name: 'runs_before',
      text: `${wanted} AND (created_at, run_id) < (SELECT b.created_at, b.run_id FROM ${runs} AS b WHERE b.run_id = $5)
        ${newestFirst}`,
    },
    run: { name: 'run', text: `SELECT ${runColumns} FROM ${runs} WHERE run_id = $1` },
    status: { name: 'status', text: `SELECT status FROM ${runs} WHERE run_id = $1` },
    agents: {
      name: 'agents',
      text: `SELECT ${AGENT_COLUMNS.join(', ')} FROM ${sub_agents} WHERE run_id = $1 ORDER BY created_position`,
    },
    agentsIn: {
      name: 'agents_in',
      text: `SELECT ${AGENT_COLUMNS.join(', ')} FROM ${sub_agents} WHERE run_id = $1 AND state = ANY($2::text[])
        ORDER BY created_position`,
    },
    agent: {
      name: 'agent',
      text: `SELECT ${AGENT_COLUMNS.join(', ')} FROM ${sub_agents} WHERE run_id = $1 AND agent_id = $2`,
    },
    heads: {
      name: 'heads',
      text: `SELECT agent_id, seq, digest FROM ${streams} WHERE run_id = $1 ORDER BY agent_id`,
    },
  }
}
