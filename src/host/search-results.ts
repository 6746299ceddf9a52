import type { SearchMatch } from './host.js'
import type { Record } from './records.js'

const MAX_CHARS = 500
/** How much of a long line is shown before the match. */
const LEAD_CHARS = 100

type Text = { text: string } | { bytes: string }
type Message =
  | { type: 'begin'; data: { path: Text } }
  | { type: 'match' | 'context'; data: { lines: Text; line_number: number; submatches: { start: number }[] } }
  | { type: 'end' | 'summary' }

/** Gathers what `rg --json` says, up to a number of matches. */
export class SearchResults {
  readonly matches: SearchMatch[] = []
  more = false
  /** Ripgrep has looked through everything: so the pattern was one. */
  finished = false
  /** Of the file that the records are about; null while they are about a file that nobody asked for. */
  #path: string | null = null
  #count = 0

  constructor(
    private readonly limit: number,
    private readonly context: number,
    /** The path to show for a path as ripgrep names it; null for files to leave out. */
    private readonly pathOf: (path: string) => string | null,
  ) {}

  readonly onRecord = (record: Record): boolean => {
    if (record.line !== null) return this.#add(isMatch(record), record.line, '[a very long line]')
    // Unwanted files may have many matches; those are not worth parsing.
    if (this.#path === null && isMatch(record)) return true
    const message = JSON.parse(record.bytes.toString('utf8')) as Message
    switch (message.type) {
      case 'begin':
        this.#path = this.pathOf(textOf(message.data.path))
        return true
      case 'match':
      case 'context': {
        const { lines, line_number, submatches } = message.data
        return this.#add(message.type === 'match', line_number, cut(textOf(lines), submatches[0]?.start ?? 0))
      }
      case 'summary':
        this.finished = true
        return true
      default:
        return true
    }
  }

  #add(matched: boolean, line: number, text: string): boolean {
    if (this.#path === null) return true
    if (matched && this.#count === this.limit) {
      this.more = true
      this.#dropForeignContext()
      return false
    }
    if (matched) this.#count++
    this.matches.push({ path: this.#path, line, text, is_context: !matched })
    return true
  }

  /** The lines that lead up to a match that is not shown any more. */
  #dropForeignContext(): void {
    const last = this.matches.findLast((match) => !match.is_context)
    const belongs = (match: SearchMatch) => match.path === last?.path && match.line <= (last?.line ?? 0) + this.context
    while (this.matches.length > 0 && !belongs(this.matches.at(-1) as SearchMatch)) this.matches.pop()
  }
}

function isMatch(record: Record): boolean {
  return record.bytes.subarray(0, 16).toString('latin1') === '{"type":"match",'
}

function textOf(text: Text): string {
  return 'text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8')
}

/** A long line is cut around its first match, of which ripgrep tells the place in bytes. */
function cut(line: string, matchByte: number): string {
  const text = line.replace(/\r?\n$/, '')
  if (text.length <= MAX_CHARS) return text
  const match = Buffer.from(text).subarray(0, matchByte).toString('utf8').length
  const from = match > MAX_CHARS - LEAD_CHARS ? match - LEAD_CHARS : 0
  const part = wholePairs(text.slice(from, from + MAX_CHARS - 2))
  return `${from > 0 ? '…' : ''}${part}${from + MAX_CHARS - 2 < text.length ? '…' : ''}`
}

function wholePairs(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '')
}
