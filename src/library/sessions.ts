import { z } from 'zod'
import { modeSchema, PRINCIPAL_ID, PRINCIPAL_ID_FAULT, type Redactor, type RunRow, titleOf } from '../domain/index.js'
import type { Store } from '../store/index.js'
import type { Session, SessionSummary, Sessions } from './api.js'
import { RetinueError } from './errors.js'
import { checkOptions } from './options.js'

const SESSION = 'session'

/** The value of a session's record: all of a session but its id. */
const sessionSchema = z.object({
  owner: z.string().nullable(),
  /** What was said first, in a line; empty until then. */
  title: z.string(),
  created_at: z.number(),
  workspace_root: z.string(),
  /** For its runs. null: as everywhere. */
  model: z.string().nullable().default(null),
  mode: modeSchema.nullable().default(null),
  /** Runs that were begun in it to work in the background, in sessions of their own, in the order of their beginning. */
  tasks: z.array(z.string()),
})
export type SessionValue = z.infer<typeof sessionSchema>

/** What can be changed of it. A record that could not be read again must not be written in the first place. */
const changeSchema = z.strictObject({
  title: z.string().optional(),
  model: z.string().min(1).nullish(),
  mode: modeSchema.nullish(),
})

/** How often a change is tried again where another process changed the session at the same time. */
const TRIES = 20

/** So much of an id is needed where it is not all of it. */
const SHORTEST = 4

type Parts = { store: Store; cwd: string; redactor: Redactor; new_id: () => string; now: () => number }

/** Conversations, as records of the store. */
export function createSessions({ store, cwd, redactor, new_id, now }: Parts): Sessions {
  return { create, known: read, find, list, update, addTask }

  async function create(owner: string): Promise<Session> {
    if (typeof owner !== 'string' || !PRINCIPAL_ID.test(owner)) {
      throw new RetinueError('input', `The owner of a session is needed: ${PRINCIPAL_ID_FAULT}`)
    }
    const session_id = new_id()
    const empty = { title: '', model: null, mode: null, tasks: [] }
    const made = await put({ session_id, owner, created_at: now(), workspace_root: cwd, ...empty }, owner, 0)
    if (!made) throw new RetinueError('conflict', `There is a session ${session_id} already`)
    return made
  }

  /** As it was stored: without secrets. null: somebody was faster. */
  async function put({ session_id, ...session }: Session, by: string, expected_version: number) {
    const value = redactor.redactAll(session)
    const written = await store.putRecord({ type: SESSION, id: session_id, value, by, expected_version })
    return written.ok ? { session_id, ...value } : null
  }

  async function find(id: string): Promise<Session> {
    const known = await read(id)
    if (known) return known
    const begun_in = await sessionOfRun(id)
    if (begun_in) return begun_in
    if (id.length < SHORTEST) {
      throw new RetinueError(
        'not_found',
        `"${id}" is no id of a session or a run: give at least ${SHORTEST} characters`,
      )
    }
    const [records, runs] = await Promise.all([store.records(SESSION), store.runs()])
    const sessions = new Set([...records.map((record) => record.id), ...runs.map(({ session_id }) => session_id)])
    const fitting = [...sessions].filter((session_id) => session_id.startsWith(id))
    const run_ids = runs.map(({ run_id }) => run_id).filter((run_id) => run_id.startsWith(id))
    if (fitting.length + run_ids.length > 1) {
      throw new RetinueError('input', `More than one session or run starts with "${id}": give more of the id`)
    }
    const found = fitting[0] ? await read(fitting[0]) : run_ids[0] ? await sessionOfRun(run_ids[0]) : null
    if (!found) throw new RetinueError('not_found', `There is no session and no run "${id}" in this store`)
    return found
  }

  async function sessionOfRun(run_id: string): Promise<Session | null> {
    const run = await store.run(run_id)
    if (!run) return null
    const of_task = (await store.records(SESSION)).find(({ value }) => {
      const parsed = sessionSchema.safeParse(value)
      return parsed.success && parsed.data.tasks.includes(run_id)
    })
    return read(of_task?.id ?? run.session_id)
  }

  /** From its record; where it has none, from its runs. */
  async function read(session_id: string): Promise<Session | null> {
    const record = await store.record(SESSION, session_id)
    if (record && record.value !== null) return { session_id, ...parse(session_id, record.value) }
    const runs = await store.runs({ session_id })
    return runs.length === 0 ? null : { session_id, ...valueFrom(runs) }
  }

  async function list({ limit = 20 }: { limit?: number } = {}): Promise<SessionSummary[]> {
    const [records, rows] = await Promise.all([store.records(SESSION), store.runs()])
    const by_session = new Map<string, RunRow[]>()
    for (const row of rows) by_session.set(row.session_id, [...(by_session.get(row.session_id) ?? []), row])
    const by_run = new Map(rows.map((row) => [row.run_id, row]))
    const recorded = records
      .filter(({ value }) => value !== null)
      .map((record): Session => ({ session_id: record.id, ...parse(record.id, record.value) }))
    const tasks = new Set(recorded.flatMap((session) => session.tasks))
    const known = new Set(recorded.map(({ session_id }) => session_id))
    // What works in the background has a session of its own that nobody talks in.
    const unrecorded = [...by_session]
      .filter(([id, runs]) => !known.has(id) && !runs.every(({ run_id }) => tasks.has(run_id)))
      .map(([id, runs]): Session => ({ session_id: id, ...valueFrom(runs) }))
    return [...recorded, ...unrecorded]
      .filter(({ workspace_root }) => workspace_root === cwd)
      .map((session) => {
        const own = by_session.get(session.session_id) ?? []
        const all = [...own, ...session.tasks.flatMap((run_id) => by_run.get(run_id) ?? [])]
        return {
          ...session,
          runs: own.length,
          cost_usd: all.some((run) => run.unpriced_calls > 0) ? null : all.reduce((sum, run) => sum + run.cost_usd, 0),
          last_at: Math.max(session.created_at, ...own.map(({ updated_at }) => updated_at)),
        }
      })
      .sort((a, b) => b.last_at - a.last_at || (a.session_id < b.session_id ? -1 : 1))
      .slice(0, limit)
  }

  async function update(
    session_id: string,
    change: Partial<Pick<Session, 'title' | 'model' | 'mode'>>,
  ): Promise<Session> {
    checkOptions(changeSchema, change)
    // Without secrets first: of one that is cut, the rest would not be known for what it is.
    const title = change.title === undefined ? {} : { title: titleOf(redactor.redact(change.title)) }
    return changed(session_id, (session) => ({ ...session, ...change, ...title }))
  }

  function addTask(session_id: string, run_id: string): Promise<Session> {
    return changed(session_id, (session) =>
      session.tasks.includes(run_id) ? session : { ...session, tasks: [...session.tasks, run_id] },
    )
  }

  async function changed(session_id: string, change: (session: Session) => Session): Promise<Session> {
    for (let tried = 0; tried < TRIES; tried++) {
      const record = await store.record(SESSION, session_id)
      const session = await read(session_id)
      if (!session) throw new RetinueError('not_found', `There is no session "${session_id}" in this store`)
      const seen = record && record.value !== null ? record.version : 0
      const next = await put(change(session), session.owner ?? 'person', seen)
      if (next) return next
    }
    throw new RetinueError('conflict', `Session ${session_id} is being changed by others all the time: try again`)
  }
}

function parse(session_id: string, value: unknown): SessionValue {
  const parsed = sessionSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new RetinueError('corrupt', `The record of session ${session_id} cannot be read: ${parsed.error.message}`)
}

/** `runs`: newest first. */
function valueFrom(runs: readonly RunRow[]): SessionValue {
  const { task, created_at, workspace_root } = runs.at(-1) as RunRow
  return { owner: null, title: titleOf(task), created_at, workspace_root, model: null, mode: null, tasks: [] }
}
