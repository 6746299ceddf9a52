import type pg from 'pg'

const INT8 = 20

/**
 * PostgreSQL's big integers come as text, because not all of them are numbers of JavaScript. This is the one place
 * where they become numbers; ours are positions, counts and times, which are all safe.
 */
export function numberTypes(types: Pick<typeof pg.types, 'getTypeParser'>): pg.CustomTypesConfig {
  const getTypeParser = (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 && format !== 'binary') return safeInteger
    return types.getTypeParser(oid, format as 'text')
  }
  return { getTypeParser } as pg.CustomTypesConfig
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`The database has the number ${text}, which is out of range.`)
  return value
}
