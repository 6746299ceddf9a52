import { countInWords } from '../domain/index.js'
import { cutLine, linesOf } from './text.js'

/** A place that is replaced. Matches ascend and do not overlap. */
export type Match = { start: number; end: number }

const MAX_HUNKS = 3
const MAX_HUNK_LINES = 20
const MAX_LINE_CHARS = 300
const CONTEXT_LINES = 2

/** The text from one position to another, with every match in it replaced. */
export function spliced(text: string, from: number, to: number, matches: readonly Match[], added: string): string {
  const pieces: string[] = []
  let at = from
  for (const match of matches) {
    pieces.push(text.slice(at, match.start), added)
    at = match.end
  }
  pieces.push(text.slice(at, to))
  return pieces.join('')
}

/** A short account of a change, like a unified diff: enough to see what happened, not to apply it. */
export function hunks(text: string, matches: readonly Match[], added: string): string {
  const shown: string[] = []
  let rest = matches
  while (rest.length > 0 && shown.length < MAX_HUNKS) {
    const { from, to, inside } = wholeLines(text, rest, added)
    rest = rest.slice(inside.length)
    shown.push(
      [
        `@@ line ${text.slice(0, from).split('\n').length} @@`,
        ...contextBefore(text, from).map((line) => ` ${cutLine(line, MAX_LINE_CHARS)}`),
        ...marked('-', text.slice(from, to)),
        ...marked('+', spliced(text, from, to, inside, added)),
        ...contextAfter(text, to).map((line) => ` ${cutLine(line, MAX_LINE_CHARS)}`),
      ].join('\n'),
    )
  }
  if (rest.length > 0) shown.push(`[… and ${countInWords(rest.length)} more]`)
  return shown.join('\n')
}

/** The whole lines that the first match changes, with all other matches that change these lines. */
function wholeLines(text: string, matches: readonly Match[], added: string) {
  const first = matches[0] as Match
  const from = text.lastIndexOf('\n', first.start - 1) + 1
  let to = first.start
  const inside: Match[] = []
  for (const match of matches) {
    if (inside.length > 0 && match.start >= to) break
    inside.push(match)
    to = changedUpTo(text, match, added)
  }
  return { from: first.start === 0 ? 0 : from, to, inside }
}

function changedUpTo(text: string, match: Match, added: string): number {
  const before = match.start === 0 ? '' : text.slice(text.lastIndexOf('\n', match.start - 1) + 1, match.start)
  const result = before + added
  // A match that took its line ending away joins the next line to what is left of it.
  if (text[match.end - 1] === '\n' && (result === '' || result.endsWith('\n'))) return match.end
  const border = text.indexOf('\n', match.end)
  return border === -1 ? text.length : border + 1
}

function marked(mark: string, text: string): string[] {
  const lines = linesOf(text)
  const shown = lines.slice(0, MAX_HUNK_LINES).map((line) => mark + cutLine(line, MAX_LINE_CHARS))
  const more = lines.length - shown.length
  return more > 0 ? [...shown, `${mark}[… ${countInWords(more)} more lines]`] : shown
}

function contextBefore(text: string, from: number): string[] {
  let start = from
  for (let i = 0; i < CONTEXT_LINES && start > 0; i++) start = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  return linesOf(text.slice(start, from))
}

function contextAfter(text: string, to: number): string[] {
  let end = to
  for (let i = 0; i < CONTEXT_LINES && end < text.length; i++) end = text.indexOf('\n', end) + 1 || text.length
  return linesOf(text.slice(to, end))
}
