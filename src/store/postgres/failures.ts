import type { Settings } from './settings.js'

/** Another transaction made or moved a row that this one was about to: it is to be done again. The schema raises it. */
export const OVERTAKEN = 'RT001'

/**
 * What passes: the server restarts, another one takes over, the network is interrupted, two transactions got into each
 * other's way, or a statement waited too long for a lock.
 */
const PASSING_CODES = new Set([
  ...['57P01', '57P02', '57P03', '57014', '53300', '40001', '40P01', '55P03', '25P03', '25P04', OVERTAKEN],
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
])

/** Errors of pg that have no code. */
const PASSING_MESSAGES = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
]

export function passes(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== null) return PASSING_CODES.has(code) || code.startsWith('08')
  return isLost(error)
}

/** Whether it is open what became of a COMMIT that was answered like this: the server itself said nothing about it. */
export function leavesOpen(error: unknown): boolean {
  const code = codeOf(error)
  return code === null || !isSqlState(code) || code.startsWith('08') || code.startsWith('57P')
}

/** Something in what was written, not the state of the database: another write may well succeed. */
export function isFault(error: unknown): boolean {
  // What is said in words of our own says with its cause what it is about.
  const reason = error instanceof Error ? (error.cause ?? error) : error
  const code = codeOf(reason)
  return code === null ? !isLost(reason) : /^(21|22|23|42|54)/.test(code) && isSqlState(code)
}

/** Where a name has several addresses and none of them answers, the error has no words of its own. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || (codeOf(error) ?? error.name)
}

/** Whether the server itself said so. */
export function isOfServer(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && 'code' in error
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

function isLost(error: unknown): boolean {
  return error instanceof Error && PASSING_MESSAGES.some((start) => error.message.startsWith(start))
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code)
}

/** Thrown when the database was away for longer than is waited for it. */
export class DatabaseAway extends Error {
  constructor(server: string, waited_ms: number, cause: unknown) {
    super(
      `The database at ${server} has not answered for ${Math.round(waited_ms / 1000)} s (${reasonOf(cause)}). ` +
        'See that it runs and can be reached, then try again.',
      { cause },
    )
  }
}

/** The same error, or one that says what to do where a person can do something. */
export function explained(error: unknown, { server, database }: Settings['place']): unknown {
  const code = codeOf(error)
  const says = (what: string) => new Error(what, { cause: error })
  if (code === '53100') {
    return says(
      `The disk of the database at ${server} is full, so nothing was stored. Make room on it, then try again.`,
    )
  }
  if (code === '25006') {
    return says(
      `The database ${database} at ${server} takes no writes: it is a standby, or was made read-only. ` +
        'Name the server that does in the URL of the store.',
    )
  }
  return error
}
