import type { CommandWord } from '../../domain/index.js'
import { type Reading, readQuoted, readWord, skipBlanks } from './reading.js'

export type Redirection = { operator: string; target: CommandWord }

/** A simple command as bash reads it: assignments before it, its words, where its streams go. */
export type Simple = {
  assignments: { name: string; value: CommandWord }[]
  words: CommandWord[]
  /** The words as written. */
  raws: string[]
  redirections: Redirection[]
  /** It reads a text that is written on the command line. */
  fed?: boolean
  /** It is the definition of a function with this name. */
  defines?: string
}

const REDIRECTION = /(\d*)(<<<|<<-|<<|<>|<&|<|>>|>&|>\||>)|&>>|&>/y
const ASSIGNMENT = /[A-Za-z_]\w*\+?=/y

/** Reads all of the text between two places as one simple command, or doubts. */
export function readSimple(reading: Reading, from: number, to: number): Simple {
  const { text } = reading
  const simple: Simple = { assignments: [], words: [], raws: [], redirections: [] }
  let heredoc: Heredoc | null = null
  let at = skipBlanks(text, from)
  while (at < to) {
    const char = text[at] as string
    const substitutes = (char === '<' || char === '>') && text[at + 1] === '('
    REDIRECTION.lastIndex = at
    const redirection = substitutes ? null : REDIRECTION.exec(text)?.[0]
    ASSIGNMENT.lastIndex = at
    const assigned = simple.words.length === 0 ? ASSIGNMENT.exec(text)?.[0] : undefined
    if (substitutes) at = readProcess(reading, at, simple)
    else if (redirection) {
      const operator = redirection.replace(/^\d+/, '')
      const start = skipBlanks(text, at + redirection.length)
      if (operator === '<<' || operator === '<<-') {
        if (heredoc) reading.doubt('it has two here-documents on a line')
        heredoc = readDelimiter(reading, start, operator === '<<-')
        simple.fed = true
        at = heredoc.end
      } else {
        const { word, raw, end } = readWord(reading, start)
        if (raw === '') reading.doubt('a redirection leads nowhere')
        simple.redirections.push({ operator, target: word })
        if (operator === '<<<') simple.fed = true
        at = end
      }
    } else if (assigned) at = readAssignment(reading, at, assigned, simple)
    else if (char === '\n' && heredoc) {
      at = readBody(reading, at + 1, heredoc, to)
      heredoc = null
      if (at !== to) reading.doubt('a here-document ends elsewhere than expected')
      break
    } else {
      const { word, raw, end } = readWord(reading, at)
      const follows = text[end] ?? ''
      if (raw === '' || char === '#') reading.doubt(`there is an unexpected ${JSON.stringify(char)}`)
      if (/^\{\w+\}$/.test(raw) && /[<>]/.test(follows)) reading.doubt('a redirection sets a variable')
      if (follows === '(' || (/[<>]/.test(follows) && text[end + 1] === '('))
        reading.doubt('a word runs into a bracket')
      simple.words.push(word)
      simple.raws.push(raw)
      at = raw === '' ? to + 1 : end
    }
    if (at <= to) at = Math.min(skipBlanks(text, at), Math.max(at, to))
  }
  if (at !== to || heredoc) reading.doubt('its words end elsewhere than expected')
  return simple
}

/** Whether a redirection gives it a file to read. */
export function readsFile({ redirections }: Simple): boolean {
  return redirections.some(({ operator, target }) => /^<>?$/.test(operator) && target !== '/dev/null')
}

function readProcess(reading: Reading, at: number, simple: Simple): number {
  const node = reading.expansions.get(at)
  if (node?.type !== 'process_substitution') {
    reading.doubt('it has an odd process substitution')
    return reading.text.length
  }
  reading.enter(node)
  simple.words.push({ starts: '/', many: false, option: false })
  simple.raws.push(reading.text.slice(at, node.endIndex))
  if (!/^[ \t\n;&|)]?$/.test(reading.text.slice(node.endIndex, node.endIndex + 1))) {
    reading.doubt('a word runs into a process substitution')
  }
  return node.endIndex
}

function readAssignment(reading: Reading, at: number, assigned: string, simple: Simple): number {
  const { text } = reading
  const name = assigned.replace(/\+?=$/, '')
  const start = at + assigned.length
  if (text[start] !== '(') {
    const { word, end } = readWord(reading, start, true)
    simple.assignments.push({ name, value: assigned.endsWith('+=') ? UNKNOWN : unsplit(word) })
    return end
  }
  // An array.
  let i = start + 1
  while (i < text.length && text[i] !== ')') {
    const next = skipBlanks(text, i)
    if (next > i || text[i] === '\n') i = Math.max(next, text[i] === '\n' ? i + 1 : next)
    else {
      const { raw, end } = readWord(reading, i)
      if (raw === '' || /^\[/.test(raw)) {
        reading.doubt('it has an array of an odd form')
        return text.length
      }
      i = end
    }
  }
  simple.assignments.push({ name, value: UNKNOWN })
  return i + 1
}

const UNKNOWN: CommandWord = { starts: '', many: true, option: true }

/** What is assigned is one value, whatever it holds. */
function unsplit(word: CommandWord): CommandWord {
  return typeof word === 'string' ? word : { ...word, many: false }
}

type Heredoc = { delimiter: string; quoted: boolean; tabs: boolean; end: number }

function readDelimiter(reading: Reading, at: number, tabs: boolean): Heredoc {
  const match = /^(?:([\w.-]+)|'([\w .-]+)'|"([\w .-]+)"|\\([\w.-]+))(?=[\s;&|<>()]|$)/.exec(reading.text.slice(at))
  if (!match) reading.doubt('the end of a here-document is not clear')
  const quoted = match?.[1] === undefined
  const delimiter = match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4] ?? ''
  return { delimiter, quoted, tabs, end: at + (match?.[0].length ?? 0) }
}

/** The lines of a here-document up to its end; gives back where the last of them ends. */
function readBody(reading: Reading, at: number, { delimiter, quoted, tabs }: Heredoc, to: number): number {
  const { text } = reading
  for (let start = at; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const line = text.slice(start, end)
    if ((tabs ? line.replace(/^\t+/, '') : line) === delimiter) {
      if (!quoted && /\\$/m.test(text.slice(at, start))) reading.doubt('a here-document has continued lines')
      if (!quoted) readQuoted(reading, at, start, [], false)
      return to === end + 1 ? to : end
    }
    start = end + 1
  }
  reading.doubt('a here-document does not end')
  return text.length
}
