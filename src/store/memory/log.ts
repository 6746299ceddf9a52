import { type AgentRow, project, type RunRow, type StoredEvent } from '../../domain/index.js'
import { type AgentDeltas, addToAgents, addToRun, applyToAgent, applyToRun, newRunDelta } from '../deltas.js'
import { eventDigest } from '../digest.js'
import { agentExists, assertSound, beginsAgent, noRun, refusal, runExists, runIsClosed } from '../refusals.js'
import { type EventRow, eventOf } from '../rows.js'
import type { Append, AppendResult, EventQuery, Lease, Tampering } from '../store.js'
import { findTampering } from '../verify.js'

type Stream = Lease & { seq: number; digest: string; rows: EventRow[] }

/** Everything of one run. Events exist before a row does only while it is being rebuilt. */
class Run {
  row: RunRow | null = null
  readonly agents = new Map<string, AgentRow>()
  readonly streams = new Map<string, Stream>()
  readonly events: EventRow[] = []
}

export class MemoryLog {
  readonly #runs = new Map<string, Run>()
  readonly #blobs = new Map<string, Uint8Array>()

  constructor(readonly clock: { now(): number }) {}

  append(batch: Append): AppendResult {
    assertSound(batch)
    const run = this.#runs.get(batch.run_id) ?? new Run()
    const stream = run.streams.get(batch.agent_id)
    const refused = refuse(batch, run, stream)
    if (refused) return refused
    const { projected, rows, stored } = draft(batch, run, stream)
    this.#runs.set(batch.run_id, run)
    const last = rows.at(-1)
    const seq = last?.seq ?? batch.expected_seq
    const written = stream ?? { ...this.#claim(batch), seq: 0, digest: '', rows: [] }
    written.rows.push(...rows)
    run.streams.set(batch.agent_id, { ...written, seq, digest: last?.digest ?? written.digest })
    run.events.push(...rows)
    run.row = projected.run
    for (const agent of projected.agents) run.agents.set(agent.agent_id, agent)
    for (const { digest, bytes } of batch.blobs ?? []) {
      if (!this.#blobs.has(digest)) this.#blobs.set(digest, bytes.slice())
    }
    return { ok: true, events: stored }
  }

  events({ run_id, agent_id, after = 0, after_seq = 0, limit }: EventQuery): StoredEvent[] {
    const run = this.#runs.get(run_id)
    const rows =
      agent_id === undefined
        ? run?.events.slice(after)
        : run?.streams
            .get(agent_id)
            ?.rows.slice(after_seq)
            .filter((row) => row.position > after)
    return (rows ?? []).slice(0, limit).map(eventOf)
  }

  blob(digest: string): Uint8Array | null {
    return this.#blobs.get(digest)?.slice() ?? null
  }

  rows(): RunRow[] {
    return [...this.#runs.values()].flatMap(({ row }) => (row ? [{ ...row }] : []))
  }

  row(run_id: string): RunRow | null {
    const { row = null } = this.#runs.get(run_id) ?? {}
    return row && { ...row }
  }

  agents(run_id: string, states?: readonly AgentRow['state'][]): AgentRow[] {
    const rows = [...(this.#runs.get(run_id)?.agents.values() ?? [])]
    return rows.filter(({ state }) => states?.includes(state) ?? true).map((row) => ({ ...row }))
  }

  agent(run_id: string, agent_id: string): AgentRow | null {
    const row = this.#runs.get(run_id)?.agents.get(agent_id)
    return row ? { ...row } : null
  }

  verify(run_id: string): Tampering | null {
    const run = this.#runs.get(run_id)
    return run ? findTampering(run.events, run.streams.values(), run.row?.last_position ?? 0) : null
  }

  rebuild(): void {
    for (const [run_id, run] of this.#runs) {
      run.row = null
      run.agents.clear()
      for (const row of run.events) {
        const projected = projectOnto(run, run_id, row.agent_id, [eventOf(row)])
        run.row = projected.run
        for (const agent of projected.agents) run.agents.set(agent.agent_id, agent)
      }
    }
  }

  stream(run_id: string, agent_id: string): Stream | null {
    return this.#runs.get(run_id)?.streams.get(agent_id) ?? null
  }

  /** Opens an empty stream, or hands one on. */
  lend(lease: Lease): void {
    const run = this.#runs.get(lease.run_id) ?? new Run()
    this.#runs.set(lease.run_id, run)
    const { seq, digest, rows } = run.streams.get(lease.agent_id) ?? { seq: 0, digest: '', rows: [] }
    run.streams.set(lease.agent_id, { ...lease, seq, digest, rows })
  }

  #claim({ run_id, agent_id, claim }: Append): Lease {
    const { owner, ttl_ms } = claim ?? { owner: '', ttl_ms: 0 }
    return { run_id, agent_id, owner, epoch: 1, expires_at: this.clock.now() + ttl_ms }
  }
}

function refuse(batch: Append, run: Run, stream: Stream | undefined): AppendResult | null {
  if (run.row && batch.events[0]?.type === 'run.created') return runExists(batch)
  if (run.row?.status === 'closed' && beginsAgent(batch)) return runIsClosed(batch)
  const fits = batch.claim ? !stream : stream?.epoch === batch.epoch && stream.seq === batch.expected_seq
  return fits ? null : refusal(batch, stream)
}

/** What the batch would make of the run. Nothing is changed yet, so that a batch that throws leaves nothing behind. */
function draft(batch: Append, run: Run, stream: Stream | undefined) {
  const { run_id, agent_id, events, expected_seq } = batch
  let digest = stream?.digest ?? ''
  const stored = events.map((event, i): StoredEvent => {
    digest = eventDigest(digest, batch, event, JSON.stringify(event.data))
    const placed = { run_id, agent_id, seq: expected_seq + i + 1, position: run.events.length + i + 1, digest }
    return { ...event, ...placed }
  })
  const rows = stored.map((event): EventRow => ({ ...event, data: JSON.stringify(event.data) }))
  const projected = projectOnto(run, run_id, agent_id, events)
  if (events.length > 0 && !projected.run) throw noRun(run_id)
  return { projected, rows, stored }
}

function projectOnto(run: Run, run_id: string, writer: string, events: Append['events']) {
  const runDelta = newRunDelta()
  const agentDeltas: AgentDeltas = new Map()
  for (const event of events) {
    const projection = project(event, writer)
    addToRun(runDelta, projection, event.at)
    addToAgents(agentDeltas, projection, event.at)
  }
  const agents = [...agentDeltas].flatMap(([agent_id, delta]) => {
    const row = run.agents.get(agent_id) ?? null
    if (row && delta.created) throw agentExists(run_id, agent_id)
    return applyToAgent({ run_id, agent_id }, row, delta) ?? []
  })
  return { run: applyToRun(run_id, run.row, runDelta), agents }
}
