import { stat } from 'node:fs/promises'
import { all, type Database, first } from './database.js'

type Place = { inode: string; born: string }

/**
 * Whether a database was made where it is. It knows the inode of its own file and when that was made: a file that came
 * with somebody's repository, or was copied, has others, and nobody can write them down beforehand. One in which there is
 * nothing yet is at home anywhere.
 */
export function isAtHome(database: Database, here: Place): boolean {
  const known = first<Place>(database.prepare('SELECT inode, born FROM home'))
  if (known && isSame(known, here)) return true
  if (hasContent(database)) return false
  settle(database, here)
  return true
}

/** File systems of networks give inodes anew; not all of them know when a file was made. */
export function isSame(one: Place, other: Place): boolean {
  return one.inode === other.inode || (one.born !== '0' && one.born === other.born)
}

/** From here on it is where it was made: of a new one, and where a person says so. */
export function settle(database: Database, { inode, born }: Place): void {
  database.prepare('INSERT OR REPLACE INTO home (id, inode, born) VALUES (1, ?, ?)').run([inode, born])
}

export async function placeOf(file: string): Promise<Place> {
  const { ino, birthtimeMs } = await stat(file, { bigint: true })
  return { inode: String(ino), born: String(birthtimeMs) }
}

function hasContent(database: Database): boolean {
  const sql = 'SELECT EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM records) AS has'
  return all<{ has: number }>(database.prepare(sql))[0]?.has === 1
}
