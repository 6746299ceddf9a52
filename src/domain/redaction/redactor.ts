import { whyIgnored } from './accept.js'
import { deepMap } from './deep.js'
import { utf8 } from './encodings.js'
import { createFinder } from './find.js'
import { createOwnWords } from './own-words.js'
import { createStream, type RedactingStream } from './stream.js'

export type Secret = { name: string; value: string }

/** Keeps secrets out of what is written down or shown, in the forms that they are usually encoded in. */
export type Redactor = {
  /** Each secret in it becomes `[secret NAME]`. */
  redact(text: string): string
  /** The same for every string in a value, keys too. The value itself where nothing was found. */
  redactAll<T>(value: T): T
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Names of the secrets that are in it. */
  findIn(content: string | Uint8Array): string[]
  /** Names of the secrets whose masks are in it: text that somebody got to see without them. */
  masksIn(text: string): string[]
  /** For a text that comes in pieces. What could be the beginning of a secret is held back until it is known. */
  stream(): RedactingStream
  readonly names: readonly string[]
  /** What was given and is not looked for. */
  readonly ignored: readonly { name: string; reason: string }[]
}

export function createRedactor(secrets: readonly Secret[]): Redactor {
  const ignored: { name: string; reason: string }[] = []
  const taken: Secret[] = []
  const isOwnWord = createOwnWords()
  for (const { name, value } of secrets) {
    const secret = { name: plainName(name), value: value.trim() }
    const reason = whyIgnored(secret.value, maskOf(secret.name), isOwnWord)
    if (reason !== null) ignored.push({ name, reason })
    else if (!taken.some((other) => other.value === secret.value)) taken.push(secret)
  }
  const names = taken.map(({ name }) => name)
  if (taken.length === 0) return { ...NOTHING_TO_REDACT, ignored }

  const masks = names.map(maskOf)
  const find = createFinder(taken.map(({ value }) => value))
  const redact = (text: string) => {
    const { found } = find(text)
    if (found.length === 0) return text
    let out = ''
    let at = 0
    for (const { start, end, secret } of found) {
      out += text.slice(at, start) + masks[secret]
      at = end
    }
    return out + text.slice(at)
  }
  return {
    redact,
    redactAll: (value) => deepMap(value, redact),
    redactBytes(bytes) {
      const { found } = find(bytes)
      if (found.length === 0) return bytes
      const pieces: ArrayLike<number>[] = []
      let at = 0
      for (const { start, end, secret } of found) {
        pieces.push(bytes.subarray(at, start), utf8(masks[secret] ?? ''))
        at = end
      }
      pieces.push(bytes.subarray(at))
      return joined(pieces)
    },
    findIn: (content) => [...new Set(find(content).found.map(({ secret }) => names[secret] ?? ''))],
    masksIn: (text) => names.filter((_, i) => text.includes(masks[i] as string)),
    stream: () => createStream(find, names, masks),
    names,
    ignored,
  }
}

export const NOTHING_TO_REDACT: Redactor = {
  redact: (text) => text,
  redactAll: (value) => value,
  redactBytes: (bytes) => bytes,
  findIn: () => [],
  masksIn: () => [],
  stream: () => ({ push: (text) => text, end: () => '', found: () => [] }),
  names: [],
  ignored: [],
}

function joined(pieces: readonly ArrayLike<number>[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

function maskOf(name: string): string {
  return `[secret ${name}]`
}

/** No quotes, no backslashes: a mask may stand inside a JSON text. */
function plainName(name: string): string {
  return name.replace(/[^\w.:@/ -]/g, '_').slice(0, 80)
}
