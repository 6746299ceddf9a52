import { StringDecoder } from 'node:string_decoder'
import { controlKey, ESC, type Found, type Key, STRINGS, sequenceAt } from './keys-sequences.js'

/** So long after an escape the rest of a sequence may come; after that it was the key. */
const ESCAPE_MS = 50
/** So long may a sequence take of which more than the escape has come: over a slow line it comes in pieces. */
const SEQUENCE_MS = 500

const PASTE_END = `${ESC}[201~`
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

export type KeyReader = {
  push(chunk: Uint8Array | string): void
  /** Forgets what has not become a key yet. */
  reset(): void
}

/** Makes keys of what a terminal in raw mode sends, in whatever pieces it comes. */
export function createKeyReader(emit: (key: Key) => void): KeyReader {
  let decoder = new StringDecoder('utf8')
  let waiting = ''
  /** What has come of a paste, while it goes on. */
  let pasted: string[] | null = null
  let timer: { timeout: NodeJS.Timeout; ms: number } | null = null

  return {
    push(chunk) {
      waiting += typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk))
      read()
    },
    reset() {
      stopTimer()
      decoder = new StringDecoder('utf8')
      waiting = ''
      pasted = null
    },
  }

  function read(): void {
    let taken = false
    while (waiting !== '') {
      if (pasted !== null) {
        if (!readPaste(pasted)) break
        continue
      }
      const found = next()
      if (found === null) break
      taken = true
      waiting = waiting.slice(found.length)
      if (found.paste) pasted = []
      if (found.key) emit(found.key)
    }
    // What waits is the beginning of a sequence. Its time runs from then on, or text after it would keep it open.
    const ms = waiting === '' || pasted !== null ? 0 : waiting === ESC ? ESCAPE_MS : SEQUENCE_MS
    if (timer !== null && !taken && timer.ms === ms) return
    stopTimer()
    if (ms > 0) timer = { timeout: setTimeout(late, ms), ms }
  }

  function next(): Found | null {
    if (waiting.startsWith(ESC)) return sequenceAt(waiting)
    const control = waiting.search(CONTROL)
    if (control === 0) return { length: 1, key: controlKey(waiting) }
    const run = control === -1 ? waiting : waiting.slice(0, control)
    const text = run.replace(UNPRINTABLE, '')
    return { length: run.length, key: text === '' ? null : { kind: 'text', text } }
  }

  /** Whether the paste has ended. Nothing in it is a key, and what a terminal would not print is left out. */
  function readPaste(parts: string[]): boolean {
    const end = waiting.indexOf(PASTE_END)
    if (end === -1) {
      // The beginning of the end may be here already.
      const kept = Math.max(0, waiting.length - PASTE_END.length + 1)
      parts.push(waiting.slice(0, kept))
      waiting = waiting.slice(kept)
      return false
    }
    parts.push(waiting.slice(0, end))
    waiting = waiting.slice(end + PASTE_END.length)
    pasted = null
    const text = parts.join('').replace(/\r\n?/g, '\n').replace(UNPRINTABLE, '')
    if (text !== '') emit({ kind: 'paste', text })
    return true
  }

  function late(): void {
    const mine = timer
    // A process that was busy meanwhile may have the rest in its input already: that is read first.
    setImmediate(() => {
      if (timer !== mine) return
      stopTimer()
      const begun = waiting
      // Of a string that never ended only its beginning is dropped: it was a key, and text was typed after it.
      waiting = STRINGS.has(begun.slice(0, 2)) ? begun.slice(2) : ''
      if (begun === ESC) emit({ kind: 'key', name: 'escape' })
      read()
    })
  }

  function stopTimer(): void {
    if (timer) clearTimeout(timer.timeout)
    timer = null
  }
}
