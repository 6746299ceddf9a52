import { DatabaseAway, isOfServer, reasonOf } from '../store/index.js'

/** What to tell a person where the store itself failed, which is no bug: its disk, its rights, its server. Otherwise null. */
export function storeFaultInWords(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  // It says so itself, and the error of the database behind it only adds details.
  if (error instanceof DatabaseAway || isOfServer(error.cause)) return error.message
  if (!isOfFile(error) && !isOfServer(error)) return null
  return `the database cannot be used: ${reasonOf(error)}${missingRight(error)}`
}

/** What gives a right that PostgreSQL says is missing, where its words tell which. */
function missingRight(error: Error): string {
  if (!('code' in error) || error.code !== '42501') return ''
  const [, kind, name] = /permission denied for (schema|database|table) (\S+)/.exec(error.message) ?? []
  if (kind === 'schema') {
    const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO <user>`
    return `. Let its owner grant the rights: GRANT USAGE ON SCHEMA ${name} TO <user>; ${tables}; a worker needs GRANT CREATE ON SCHEMA ${name} TO <user>`
  }
  if (kind === 'database') return `. Let its owner grant the right: GRANT CREATE ON DATABASE ${name} TO <user>`
  return '. Let its owner grant the rights that the page about PostgreSQL names'
}

function isOfFile(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE')
}
