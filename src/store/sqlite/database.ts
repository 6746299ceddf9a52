import type Libsql from 'libsql'

export type Database = Libsql.Database
export type Statement = Libsql.Statement<unknown[]>

/** Never a boolean: libsql aborts the process when it is given one. */
export type Value = string | number | null | Uint8Array

/** Rows as they are stored. The caller names the columns it selected. */
export function all<Row>(statement: Statement, ...values: Value[]): Row[] {
  return statement.all(values) as Row[]
}

/** The first row, or undefined. It carries a `_metadata` of libsql's, so it must not be handed on whole. */
export function first<Row>(statement: Statement, ...values: Value[]): Row | undefined {
  return statement.get(values) as Row | undefined
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}

/** After some errors SQLite has rolled back by itself, and a second ROLLBACK would be an error of its own. */
export function rollback(database: Database): void {
  if (database.inTransaction) database.exec('ROLLBACK')
}
