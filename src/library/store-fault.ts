import { DatabaseAway } from '../store/index.js'

/** What to tell a person where the store itself failed, which is no bug: its disk, its rights, its server. Otherwise null. */
export function storeFaultInWords(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  // It says so itself, and the error of the database behind it only adds details.
  if (error instanceof DatabaseAway || isOfServer(error.cause)) return error.message
  return isOfFile(error) || isOfServer(error) ? `the database cannot be used: ${error.message}` : null
}

function isOfFile(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE')
}

/** An error that PostgreSQL answered with. */
function isOfServer(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && 'code' in error
}
