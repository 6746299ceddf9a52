import type { Node } from 'web-tree-sitter'
import type { CommandWord } from '../../domain/index.js'

/**
 * One reading of a command line. The tree says how it is built; every word in it is read again here from the text, by
 * bash's own rules, and the two must agree on where things begin and end. The first doubt ends it.
 */
export type Reading = {
  text: string
  /** Expansions and substitutions in the tree, by where they begin. */
  expansions: ReadonlyMap<number, Node>
  variables: Variables
  doubt: (why: string) => void
  /** A substitution was met in a word; what is in it is read like everything else. */
  enter: (substitution: Node) => void
}

/** What the command line itself gives to each variable. */
export type Variables = ReadonlyMap<string, readonly CommandWord[]>

/** A piece of a word. `value` null: not known. */
type Piece = { value: string } | { value: null; many: boolean; dash: boolean; empty: boolean }

export type ReadWord = {
  word: CommandWord
  /** As written. */
  raw: string
  end: number
}

const NAME = /[A-Za-z_]\w*/y
const BLANK = /[ \t]/
const ENDS_WORD = /[ \t\n;&|<>()]/

/** Skips what separates words on one line. */
export function skipBlanks(text: string, at: number): number {
  let i = at
  while (BLANK.test(text[i] ?? '') || text.startsWith('\\\n', i)) i += text[i] === '\\' ? 2 : 1
  return i
}

/** The word that begins here. What is `assigned` to a variable is neither split nor taken for a pattern. */
export function readWord(reading: Reading, at: number, assigned = false): ReadWord {
  const { text } = reading
  const pieces: Piece[] = []
  // The word with everything that is quoted or unknown blotted out, for what only counts unquoted.
  let shape = ''
  let i = at
  const add = (value: string, seen: string) => {
    pieces.push({ value })
    shape += seen
  }
  while (i < text.length && !ENDS_WORD.test(text[i] as string)) {
    const char = text[i] as string
    if (char === '\\') {
      const next = text[i + 1]
      if (next === undefined) reading.doubt('it ends with a backslash')
      else if (next !== '\n') add(next, 'Q')
      i += 2
    } else if (char === "'") {
      const close = text.indexOf("'", i + 1)
      if (close < 0) reading.doubt('a quote is not closed')
      add(text.slice(i + 1, close < 0 ? text.length : close), 'Q')
      i = close < 0 ? text.length : close + 1
    } else if (char === '"') {
      i = readQuoted(reading, i + 1, text.length, pieces, true)
      shape += 'Q'
    } else if (char === '$' && text[i + 1] === "'") {
      const { value, end } = readEscaped(reading, i + 2)
      add(value, 'Q')
      i = end
    } else if (char === '$' && text[i + 1] === '"') {
      reading.doubt('it has a translated string')
      i = text.length
    } else if (char === '$' || char === '`') {
      if (char === '`' && !reading.expansions.has(i)) break
      i = readExpansion(reading, i, pieces, false)
      shape += 'U'
    } else if (char === '~' && (shape === '' || /[=:]$/.test(shape))) {
      pieces.push({ value: null, many: false, dash: false, empty: false })
      shape += 'U'
      i++
    } else if (!assigned && (char === '*' || char === '?' || char === '[')) {
      pieces.push({ value: null, many: true, dash: true, empty: true })
      shape += char
      i++
    } else {
      add(char, char)
      i++
    }
  }
  const raw = text.slice(at, i)
  if (!assigned && (raw === '[' || raw === '[[')) return { word: raw, raw, end: i }
  return {
    word: !assigned && bracesExpand(shape) ? unknown(shape.split('{')[0] ?? '', pieces) : fold(pieces),
    raw,
    end: i,
  }
}

/** `{a,b}` and `{1..3}`, also in the odd form `{a},b}`; but not `stash@{1}` nor `a@{1}..b@{2}`. */
function bracesExpand(shape: string): boolean {
  if (/\{.*,.*\}/s.test(shape)) return true
  for (let i = shape.indexOf('{'); i >= 0; i = shape.indexOf('{', i + 1)) {
    let depth = 0
    for (let j = i; j < shape.length; j++) {
      if (shape[j] === '{') depth++
      else if (shape[j] === '}') depth--
      if (depth === 0) {
        if (shape.slice(i, j).includes('..')) return true
        break
      }
    }
  }
  return false
}

/** A word with braces: only what is plainly written before them is known. */
function unknown(before: string, pieces: readonly Piece[]): CommandWord {
  const folded = fold(pieces)
  const known = typeof folded === 'string' ? folded : folded.starts
  const starts = /^[\w./:@%+,=^-]*$/.test(before) && !/[QU]/.test(before) && known.startsWith(before) ? before : ''
  return { starts, many: true, option: starts === '' || starts.startsWith('-') }
}

function fold(pieces: readonly Piece[]): CommandWord {
  const first = pieces.findIndex((piece) => piece.value === null)
  const starts = (first < 0 ? pieces : pieces.slice(0, first)).map((piece) => piece.value).join('')
  if (first < 0) return starts
  return {
    starts,
    many: pieces.some((piece) => piece.value === null && piece.many),
    option: startsWithDash(pieces),
  }
}

function startsWithDash(pieces: readonly Piece[]): boolean {
  for (const piece of pieces) {
    if (piece.value === '') continue
    if (piece.value !== null) return piece.value.startsWith('-')
    if (piece.dash) return true
    if (!piece.empty) return false
  }
  return false
}

/** What stands between double quotes, or in a here-document; gives back where it ends. */
export function readQuoted(reading: Reading, at: number, end: number, pieces: Piece[], closes: boolean): number {
  const { text } = reading
  let i = at
  while (i < end) {
    const char = text[i] as string
    if (char === '"' && closes) return i + 1
    if (char === '\\') {
      const next = text[i + 1] ?? ''
      const escapes = next !== '' && (closes ? '$`"\\\n' : '$`\\\n').includes(next)
      if (next !== '\n') pieces.push({ value: escapes ? next : char + next })
      i += 2
    } else if ((char === '$' && /[\w({[@*#?$!-]/.test(text[i + 1] ?? '')) || char === '`') {
      i = readExpansion(reading, i, pieces, true)
    } else {
      pieces.push({ value: char })
      i++
    }
  }
  if (closes) reading.doubt('a quote is not closed')
  return i
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', '\\': '\\', "'": "'", '"': '"', '?': '?', e: '\u001b' }

/** `$'...'`, where every escape in it is one of the plain ones. */
function readEscaped(reading: Reading, at: number): { value: string; end: number } {
  const { text } = reading
  let value = ''
  let i = at
  while (i < text.length) {
    const char = text[i] as string
    if (char === "'") return { value, end: i + 1 }
    if (char !== '\\') {
      value += char
      i++
      continue
    }
    const plain = ESCAPES[text[i + 1] ?? '']
    const code = /^(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4}))/.exec(text.slice(i + 1, i + 6))
    if (plain !== undefined) {
      value += plain
      i += 2
      continue
    }
    const number = code ? Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', code[2] ? 8 : 16) : 0
    if (!code || number < 1 || number > 126) break
    value += String.fromCharCode(number)
    i += 1 + code[0].length
  }
  reading.doubt("it has an escape in $'...' that is not read here")
  return { value, end: text.length }
}

/** `$x`, `${x}`, `$(...)`, `$((...))` and backquotes, where the tree has them too. */
function readExpansion(reading: Reading, at: number, pieces: Piece[], quoted: boolean): number {
  const { text } = reading
  const node = reading.expansions.get(at)
  const stop = (why: string) => {
    reading.doubt(why)
    return text.length
  }
  if (!node) {
    // A dollar sign with nothing after it is itself.
    if (text[at] !== '$' || !/^(?:[ \t\n]|$)/.test(text.slice(at + 1, at + 2))) return stop('it has an odd $ or `')
    pieces.push({ value: '$' })
    return at + 1
  }
  const written = text.slice(at, node.endIndex)
  switch (node.type) {
    case 'command_substitution':
      if (written.startsWith('`') && (/[\\]/.test(written) || written.slice(1, -1).includes('`'))) {
        return stop('it has backquotes with escapes in them')
      }
      if (written.startsWith('$((') || written.startsWith('$`')) return stop('it has a substitution of an odd form')
      reading.enter(node)
      pieces.push({
        value: null,
        many: !quoted && written !== '$(nproc)',
        dash: !PRINTS_NO_OPTION.test(written),
        empty: true,
      })
      return node.endIndex
    case 'arithmetic_expansion':
      if (!written.startsWith('$((') || !isPlainArithmetic(reading, written.slice(3, -2))) {
        return stop('it has arithmetic with variables that are not numbers')
      }
      pieces.push({ value: null, many: false, dash: false, empty: false })
      return node.endIndex
    case 'simple_expansion': {
      NAME.lastIndex = at + 1
      const name = NAME.exec(text)?.[0] ?? text[at + 1] ?? ''
      if (at + 1 + name.length !== node.endIndex) return stop(`the variable in ${written} is not clear`)
      pieces.push(variableValue(reading, name, quoted))
      return node.endIndex
    }
    case 'expansion': {
      if (!PLAIN_EXPANSION.test(written)) return stop(`it has the expansion ${written.slice(0, 40)}`)
      const name = /^\$\{([A-Za-z_]\w*)\}$/.exec(written)?.[1]
      const many = !quoted || /^\$\{[\w]*(\[)?@/.test(written)
      pieces.push(name ? variableValue(reading, name, quoted) : { value: null, many, dash: true, empty: true })
      return node.endIndex
    }
    default:
      return stop('it has an expansion that is not known')
  }
}

/** What prints a number or the name of a commit, and so can become no option. */
const PRINTS_NO_OPTION =
  /^\$\((?:nproc|git merge-base(?: \w[\w./~^@{}-]*){2}|git rev-parse(?: --short| --verify)* \w[\w./~^@{}-]*)\)$/

/** Expansions that neither run, nor assign, nor calculate: their words hold nothing that a shell would look into. */
const PLAIN_EXPANSION =
  /^\$\{(?:#?[A-Za-z_]\w*|[0-9@*#?]|[A-Za-z_]\w*\[(?:[@*]|\d+)\]|#[A-Za-z_]\w*\[[@*]\]|[A-Za-z_]\w*(?::?[-+?]|##?|%%?|\/[/#%]?|\^\^?|,,?)[\w./:@%+,=*? -]*)\}$/

function variableValue(reading: Reading, name: string, quoted: boolean): Piece {
  if (/^[?#$]$/.test(name)) return { value: null, many: false, dash: false, empty: false }
  // A number too, but before anything ran in the background it is empty, and unquoted then no word at all.
  if (name === '!') return { value: null, many: !quoted, dash: false, empty: true }
  const values = reading.variables.get(name)
  if (!values) return { value: null, many: !quoted || name === '@', dash: true, empty: true }
  const splits = values.some((value) => typeof value !== 'string' || /[\s*?[\\]/.test(value))
  const dash = values.some((value) => (typeof value === 'string' ? value.startsWith('-') : value.option))
  // Split at blanks, a later part of the value may begin with a dash.
  return { value: null, many: !quoted, dash: dash || (!quoted && splits && !isNumber(values)), empty: true }
}

function isNumber(values: readonly CommandWord[]): boolean {
  return values.every((value) => (typeof value === 'string' ? /^\d+$/.test(value) : value === NUMBER))
}

/** What arithmetic gives. */
export const NUMBER: CommandWord = { starts: '', many: false, option: false }

/** A variable that holds text is evaluated by arithmetic as an expression, which may run commands. */
export function isPlainArithmetic(reading: Reading, expression: string): boolean {
  if (!/^[\w\s+\-*/%<>=!&|^~?:(),;$]*$/.test(expression) || /\$[^A-Za-z_]|\$$/.test(expression)) return false
  return (expression.match(/[A-Za-z_]\w*/g) ?? []).every((name) => {
    const values = reading.variables.get(name)
    return values !== undefined && isNumber(values)
  })
}
