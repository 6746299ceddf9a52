import type { Find } from './find.js'

export type RedactingStream = {
  /** What can be shown by now, of this piece and those before it. */
  push(text: string): string
  /** The rest. */
  end(): string
  /** Names of the secrets there were so far. */
  found(): string[]
}

const LONG = 256

export function createStream(find: Find, names: readonly string[], masks: readonly string[]): RedactingStream {
  const seen = new Set<string>()
  let held = ''
  let looked_at = 0
  function take(last: boolean): string {
    const { found, open } = find(held, !last)
    let cut = open < 0 ? held.length : open
    // One that reaches past the cut may go on.
    for (const { start, end } of found) if (start < cut && end > cut) cut = start
    let out = ''
    let at = 0
    for (const { start, end, secret } of found) {
      if (end > cut) break
      out += held.slice(at, start) + masks[secret]
      seen.add(names[secret] ?? '')
      at = end
    }
    out += held.slice(at, cut)
    held = held.slice(cut)
    looked_at = held.length
    return out
  }
  return {
    push(text) {
      held += text
      // A long beginning of a secret is not looked at again for every letter that comes.
      const enough = looked_at < LONG ? 0 : looked_at / 8
      return held.length - looked_at > enough ? take(false) : ''
    },
    end: () => take(true),
    found: () => [...seen],
  }
}
