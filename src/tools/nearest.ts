import { countInWords } from '../domain/index.js'
import { similarity } from './similar.js'
import { cutLine, linesOf } from './text.js'

// What is looked at in long files and long texts: the message is a help, and must stay cheap.
const MAX_FILE_LINES = 10_000
const MAX_WANTED_LINES = 30
const MAX_SHOWN_LINES = 10

/** Says why a text was not found, with the lines of the file that come nearest to it. */
export function whyNotFound(text: string, wanted: string, path: string): string {
  const start = `old_text is not in ${path}`
  const bare = wanted.replace(/^ *\d+\t/gm, '')
  if (bare.trim() !== '' && flat(text).includes(flat(bare))) {
    return `${start} with the line numbers that read_file shows: leave them and the tab after them out`
  }
  const all = linesOf(text)
  const lines = all.slice(0, MAX_FILE_LINES)
  const sought = linesOf(wanted.trim()).slice(0, MAX_WANTED_LINES).map(collapse)
  const near = bestWindow(lines, sought) ?? mostSimilar(lines, sought)
  if (near === null) {
    const seen = lines.length < all.length ? ` in its first ${countInWords(MAX_FILE_LINES)} lines` : ''
    return `${start}, nor anything like it${seen}: read the file again`
  }
  const shown = lines
    .slice(near.from, near.from + Math.min(sought.length, MAX_SHOWN_LINES))
    .map((line, i) => `${String(near.from + i + 1).padStart(5)}\t${cutLine(line, 300)}`)
  const how = near.exact ? 'These lines differ from it in whitespace alone' : 'The nearest lines'
  return `${start}. ${how}:\n${shown.join('\n')}`
}

type Nearest = { from: number; exact: boolean }

/** The place where most lines are the same once runs of whitespace are one blank. */
function bestWindow(lines: string[], sought: string[]): Nearest | null {
  const collapsed = lines.map(collapse)
  let best = 0
  let from = 0
  for (let i = 0; i < collapsed.length; i++) {
    // Braces and blank lines are the same everywhere: they prove nothing.
    const same = sought.filter((line, j) => line.length > 2 && collapsed[i + j] === line).length
    if (same > best) {
      best = same
      from = i
    }
  }
  if (best === 0) return null
  return { from, exact: sought.every((line, j) => collapsed[from + j] === line) }
}

function mostSimilar(lines: string[], sought: string[]): Nearest | null {
  const longest = sought.reduce((a, b) => (b.length > a.length ? b : a), '').slice(0, 200)
  let best = 0.5
  let at = -1
  for (let i = 0; i < lines.length; i++) {
    const score = similarity(longest, collapse((lines[i] ?? '').slice(0, 300)))
    if (score > best) {
      best = score
      at = i
    }
  }
  return at === -1 ? null : { from: Math.max(0, at - sought.indexOf(longest)), exact: false }
}

function collapse(line: string): string {
  return line.trim().replace(/\s+/g, ' ')
}

function flat(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
