import { plural } from '../domain/index.js'
import { whyNotFound } from './nearest.js'
import { hunks, type Match, spliced } from './snippet.js'

export type Edit = { old_text: string; new_text: string; replace_all?: boolean | undefined }

export type EditResult =
  | { ok: true; text: string; replacements: number; snippet: string }
  | { ok: false; message: string }

const MAX_LINES_NAMED = 10

/**
 * Replaces exact text. Line endings are no part of "exact": text that differs from the file in CRLF or LF alone is
 * found, and what is written gets the file's endings.
 */
export function applyEdit(text: string, path: string, edit: Edit): EditResult {
  const { old_text, new_text, replace_all = false } = edit
  if (old_text === '') {
    return { ok: false, message: 'old_text is empty: write_file creates or replaces a whole file' }
  }
  const wanted = replace_all ? Number.POSITIVE_INFINITY : MAX_LINES_NAMED + 1
  let matches = occurrences(text, old_text, wanted)
  const across = matches.length === 0 && (text + old_text).includes('\r\n')
  if (across) matches = acrossEndings(text, old_text, wanted)
  if (matches.length === 0) return { ok: false, message: whyNotFound(text, old_text, path) }
  if (!replace_all && matches.length > 1) return { ok: false, message: ambiguous(text, path, matches) }
  const added = withEndings(new_text, text, across)
  const edited = spliced(text, 0, text.length, matches, added)
  if (edited === text) return { ok: false, message: 'old_text and new_text are the same: nothing to change' }
  return { ok: true, text: edited, replacements: matches.length, snippet: hunks(text, matches, added) }
}

function occurrences(text: string, wanted: string, max: number): Match[] {
  const found: Match[] = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < max; ) {
    found.push({ start: at, end: at + wanted.length })
    // "aa" is twice in "aaa" for somebody who must be unique, once for somebody who replaces all.
    const next = max === Number.POSITIVE_INFINITY ? at + wanted.length : at + 1
    at = text.indexOf(wanted, next)
  }
  return found
}

function acrossEndings(text: string, wanted: string, max: number): Match[] {
  const flat = occurrences(text.replaceAll('\r\n', '\n'), wanted.replaceAll('\r\n', '\n'), max)
  const starts = positionsIn(
    text,
    flat.map((match) => match.start),
  )
  const ends = positionsIn(
    text,
    flat.map((match) => match.end),
  )
  return starts.map((start, i) => ({ start, end: ends[i] ?? start }))
}

/** Where ascending positions of a text whose CRLF became LF are in the text itself. */
function positionsIn(text: string, flat: number[]): number[] {
  let removed = 0
  let next = text.indexOf('\r\n')
  return flat.map((position) => {
    while (next !== -1 && next - removed < position) {
      removed++
      next = text.indexOf('\r\n', next + 2)
    }
    return position + removed
  })
}

function withEndings(added: string, text: string, across: boolean): string {
  const crlf = text.split('\r\n').length - 1
  const lf = text.split('\n').length - 1 - crlf
  if (crlf > lf) return added.replace(/\r?\n/g, '\r\n')
  return across ? added.replaceAll('\r\n', '\n') : added
}

function ambiguous(text: string, path: string, matches: Match[]): string {
  const lines = matches.slice(0, MAX_LINES_NAMED).map((match) => text.slice(0, match.start).split('\n').length)
  const more = matches.length > MAX_LINES_NAMED
  const times = more ? `more than ${MAX_LINES_NAMED} times` : plural(matches.length, 'time')
  const where = [...new Set(lines)].join(', ')
  return (
    `old_text is in ${path} ${times}, at line ${where}${more ? ', …' : ''}: ` +
    'add lines around it until it is unique, or set replace_all'
  )
}
