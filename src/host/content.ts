import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { Held } from './held.js'
import { refuse } from './paths.js'

/** A NUL this early is what git and ripgrep take for a sign of a binary file, too. */
const BINARY_SAMPLE = 8192

/** The bytes of a regular file, however it grows while it is read. */
export async function readHeld(held: Held, given: string, maxBytes: number): Promise<Buffer> {
  requireRegular(held.stats, given)
  if (held.stats.size > maxBytes) throw tooLarge(given, held.stats.size, maxBytes)
  const fd = held.open()
  const next = held.stats.size <= AT_ONCE ? readNow : readLater
  try {
    // One byte more than expected tells the end of the file from a file that has grown.
    let buffer = Buffer.allocUnsafe(held.stats.size + 1)
    let length = 0
    for (;;) {
      const bytesRead = await next(fd, buffer, length)
      length += bytesRead
      if (bytesRead === 0) return buffer.subarray(0, length)
      if (length > maxBytes) throw tooLarge(given, length, maxBytes)
      if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, maxBytes + 1))
    }
  } finally {
    closeSync(fd)
  }
}

/** Files up to this size are read in one go; for larger ones the rest of the process must not wait. */
const AT_ONCE = 256 * 1024

type ReadInto = (fd: number, buffer: Buffer, offset: number) => number | Promise<number>
const readNow: ReadInto = (fd, buffer, offset) => readSync(fd, buffer, offset, buffer.length - offset, null)
const readLater: ReadInto = async (fd, buffer, offset) => {
  return (await promisify(read)(fd, buffer, offset, buffer.length - offset, null)).bytesRead
}

/** Byte for byte: a byte order mark stays in the text, and what would not come back the same is refused. */
export function decode(bytes: Buffer, given: string): string {
  if (bytes.subarray(0, BINARY_SAMPLE).includes(0) || !isUtf8(bytes)) {
    throw refuse(
      'binary',
      `${JSON.stringify(given)} is not text in UTF-8; a command such as file or xxd can look at it`,
    )
  }
  return bytes.toString('utf8')
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export async function digestHeld(held: Held, given: string): Promise<string> {
  requireRegular(held.stats, given)
  const fd = held.open()
  const next = held.stats.size <= AT_ONCE ? readNow : readLater
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(AT_ONCE, held.stats.size + 1))
  try {
    for (;;) {
      const bytesRead = await next(fd, buffer, 0)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    closeSync(fd)
  }
}

export function requireRegular(stats: Stats, given: string): void {
  if (stats.isFile()) return
  throw refuse('not_a_file', `${JSON.stringify(given)} is ${kindOf(stats)}, not a file`)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a named pipe'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}

function tooLarge(given: string, bytes: number, limit: number) {
  return refuse(
    'too_large',
    `${JSON.stringify(given)} has ${bytes} bytes and at most ${limit} are read; ` +
      'search it, or read a part of it with a command such as head, tail or sed -n',
  )
}
