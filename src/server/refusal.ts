import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { CorruptLogError, type ErrorCode, RetinueError, storeFaultInWords } from '../index.js'
import type { WireError } from './wire.js'

/** What the API refuses: what was wrong, and what to do. */
export class Refusal extends Error {
  constructor(
    readonly status: ContentfulStatusCode,
    readonly code: string,
    message: string,
    readonly more: { faults?: { path: string; message: string }[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
  }
}

const STATUS: Record<ErrorCode, ContentfulStatusCode> = {
  input: 400,
  config: 400,
  // Its name is what was sent, or what the configuration says.
  model: 400,
  denied: 403,
  not_found: 404,
  conflict: 409,
  held: 409,
  auth: 500,
  abandoned: 500,
  corrupt: 500,
  store: 503,
}

/** Whatever went wrong, as it is sent. What nobody expected is told to the person who serves, and to nobody else. */
export function answerTo(error: unknown, c: Context, report: (text: string) => void): Response {
  const { status, code, message, more } = refusalOf(error, report)
  const { faults, headers } = more
  const body: WireError = { error: { code, message, ...(faults ? { faults } : {}) } }
  return c.json(body, status, { 'cache-control': 'no-store', ...headers })
}

function refusalOf(error: unknown, report: (text: string) => void): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof RetinueError) return new Refusal(STATUS[error.code], error.code, error.message)
  if (error instanceof CorruptLogError) return new Refusal(500, 'corrupt', error.message)
  const store = storeRefusal(error)
  if (store !== null) {
    report(store.message)
    return store
  }
  const fault = storeFaultInWords(error)
  if (fault !== null) {
    report(fault)
    return new Refusal(
      503,
      'store',
      'The database of the store cannot be used now: the terminal of the server says why.',
    )
  }
  const id = crypto.randomUUID().slice(0, 8)
  report(`fault ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return new Refusal(
    500,
    'internal',
    `Something went wrong in the server. Its terminal says what: look for fault ${id}.`,
  )
}

/** What keeps a store from being written, by the beginning of the code that SQLite or PostgreSQL has for it. */
const STORE_FAULTS: [code: string, status: 503 | 507, message: string][] = [
  ['SQLITE_FULL', 507, 'The disk of the store is full: nothing can be written before there is room again.'],
  ['SQLITE_READONLY', 503, 'The store cannot be written: its file or folder is read-only, or was moved.'],
  ['SQLITE_BUSY', 503, 'Another process keeps the store locked. End it, or try again later.'],
  ['SQLITE_LOCKED', 503, 'Another process keeps the store locked. End it, or try again later.'],
  ['SQLITE_IOERR', 503, 'The file of the store cannot be read or written: look at its disk.'],
  ['53100', 507, 'The disk of the database is full: nothing can be written before there is room again.'],
  ['SQLITE_CANTOPEN', 503, 'The file of the store cannot be opened: look at its folder.'],
]

function storeRefusal(error: unknown): Refusal | null {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  const found = STORE_FAULTS.find(([beginning]) => typeof code === 'string' && code.startsWith(beginning))
  if (found) return new Refusal(found[1], 'store', found[2])
  return cause === undefined ? null : storeRefusal(cause)
}
