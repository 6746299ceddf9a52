import type { DiffText } from '../wire.js'

/** A text in an answer has no more characters than this. */
const MOST_CHARS = 8_000_000

/** The beginning of a long text, to the end of its last whole line where it has lines. */
export function cut(text: string): { text: string; cut: boolean } {
  if (text.length <= MOST_CHARS) return { text, cut: false }
  const line = text.lastIndexOf('\n', MOST_CHARS - 1)
  return { text: text.slice(0, line < 0 ? MOST_CHARS : line + 1), cut: true }
}

/** The first of a list, as far as there is room for them; the first one in any case. */
export function first<T>(all: readonly T[]): { list: T[]; more: boolean } {
  let chars = 0
  const end = all.findIndex((one, i) => {
    chars += JSON.stringify(one).length
    return i > 0 && chars > MOST_CHARS
  })
  return end < 0 ? { list: [...all], more: false } : { list: all.slice(0, end), more: true }
}

export function diffOf(diff: string): DiffText {
  const shown = cut(diff)
  return { diff: shown.text, cut: shown.cut }
}
