import { countInWords } from '../domain/index.js'
import { defuse, head, oneLine, tail } from '../tools/index.js'

/**
 * Words of models, files and commands as parts of a Markdown page. Whatever they say, it stays where it was put: no
 * heading, list, table, fence or tag of theirs begins or ends anything of the page.
 */

const INLINE_CHARS = 200
const LINE_CHARS = 100

/** In a line of text. */
export function inline(text: string, max = INLINE_CHARS): string {
  return oneLine(defuse(printable(text)), max).replace(ACTIVE, '\\$&')
}

/** The first line of a text, where the rest is said elsewhere. */
export function firstLine(text: string, max = INLINE_CHARS): string {
  return inline(text.trim().split(/\r?\n/, 1)[0] as string, max)
}

/** What means something inside a line. An underscore within a word does not. */
const ACTIVE = /[\\`*<[\]|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w+;)/gu

/** A path or a command, in a line of text. */
export function code(text: string, max = INLINE_CHARS): string {
  const line = oneLine(printable(text).replace(LONG_RUN, SHORT_RUN), max)
  if (line === '') return '(empty)'
  const ticks = '`'.repeat(longestRun(line) + 1)
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${ticks}${pad}${line}${pad}${ticks}`
}

/** A part of a line as a cell of a table, where only a backslash keeps a bar from being the border. */
export function cell(markdown: string): string {
  return markdown.replace(/\\?\|/g, '\\|')
}

/** What somebody said, as it may stand in a block. */
export function plain(text: string): string {
  return defuse(printable(text)).replace(LONG_RUN, SHORT_RUN).trim() || '(nothing)'
}

/** A fence must be longer than what it holds, so this bounds fences too. */
const LONG_RUN = /`{10,}/g
const SHORT_RUN = '`'.repeat(10)

/** A block of what is plain, exactly as it is but for breaks in long lines. */
export function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}text\n${wrapped(text)}\n${fence}`
}

/** The beginning and the end of a text, with what is missing said between them. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const room = max - missing(text.length).length - 2
  if (room < MIN_SHOWN) return missing(text.length)
  const start = head(text, Math.ceil((room * 2) / 3))
  const end = tail(text, Math.floor(room / 3))
  return `${start}\n${missing(text.length - start.length - end.length)}\n${end}`
}

/** Less than that of a text says nothing. */
const MIN_SHOWN = 40

function missing(characters: number): string {
  return `[… ${countInWords(characters)} characters left out …]`
}

/** Characters that nobody sees, or that change how others are seen, are shown as such. */
function printable(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(/[\p{Cc}\p{Cs}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, (char) =>
      /[\n\t]/.test(char) ? char : '�',
    )
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
}

/** In a fenced block nothing else breaks a long line. */
function wrapped(text: string): string {
  return text.split('\n').flatMap(wrappedLine).join('\n')
}

function wrappedLine(line: string): string[] {
  const lines: string[] = []
  let rest = line
  while (rest.length > LINE_CHARS) {
    const before = rest.lastIndexOf(' ', LINE_CHARS)
    const at = before > 0 ? before : rest.indexOf(' ', LINE_CHARS)
    if (at < 0) break
    lines.push(rest.slice(0, at))
    rest = rest.slice(at + 1)
  }
  return [...lines, rest]
}
