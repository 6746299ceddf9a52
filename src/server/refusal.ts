import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { CorruptLogError } from '../domain/index.js'
import { type ErrorCode, RetinueError } from '../index.js'
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
  store: 500,
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
  const id = crypto.randomUUID().slice(0, 8)
  report(`fault ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return new Refusal(
    500,
    'internal',
    `Something went wrong in the server. Its terminal says what: look for fault ${id}.`,
  )
}
