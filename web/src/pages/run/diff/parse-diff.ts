import { printable } from '#domain'

/** A line of a diff as it is shown. `old`, `new`: its number in the file before and after; null: it is not known. */
export type DiffLine =
  | FileLine
  | { kind: 'hunk'; text: string }
  | { kind: 'added' | 'removed' | 'same'; text: string; old: number | null; new: number | null }
  | { kind: 'note'; text: string }
type FileLine = {
  kind: 'file'
  path: string
  change: 'added' | 'modified' | 'deleted' | 'renamed'
  added: number
  removed: number
}

/** Where one is in a hunk: which lines come next, and how many are to come. null numbers: nobody said. */
type Hunk = { old: number | null; new: number | null; old_left: number; new_left: number }

/** The lines of a unified diff, as git and Retinue's questions write it. What it does not understand it shows as it is. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let file: FileLine | null = null
  let hunk: Hunk | null = null
  const texts = diff.split('\n')
  if (texts[texts.length - 1] === '') texts.pop()
  for (const text of texts) {
    // Only inside of a hunk does a first character mean something: a line of a file may look like anything.
    const inside = hunk && lineOf(text, hunk)
    if (inside) {
      lines.push(inside)
      if (file && inside.kind === 'added') file.added++
      if (file && inside.kind === 'removed') file.removed++
      continue
    }
    const begun = hunkOf(text)
    if (begun) {
      hunk = begun
      lines.push({ kind: 'hunk', text })
      continue
    }
    if (text.startsWith('\\')) {
      lines.push({ kind: 'note', text: text.slice(1).trim() })
      continue
    }
    hunk = null
    if (text.startsWith('diff --git ')) {
      file = { kind: 'file', path: pathOf(text), change: 'modified', added: 0, removed: 0 }
      lines.push(file)
    } else if (!file || !isAbout(file, text)) {
      lines.push({ kind: 'note', text })
    }
  }
  return lines
}

function hunkOf(text: string): Hunk | null {
  const [, old, old_left = '1', now, new_left = '1'] = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text) ?? []
  if (old !== undefined) {
    return { old: Number(old), new: Number(now), old_left: Number(old_left), new_left: Number(new_left) }
  }
  if (!/^@@ .*@@$/.test(text)) return null
  return { old: null, new: null, old_left: Number.POSITIVE_INFINITY, new_left: Number.POSITIVE_INFINITY }
}

/** null: the hunk is over, or this is none of its lines. It counts what it has read. */
function lineOf(text: string, hunk: Hunk): Exclude<DiffLine, { kind: 'file' | 'hunk' | 'note' }> | null {
  if (hunk.old_left <= 0 && hunk.new_left <= 0) return null
  const kind = ({ '+': 'added', '-': 'removed', ' ': 'same', '': 'same' } as const)[text[0] ?? '']
  if (kind === undefined) return null
  const line = { kind, text: text.slice(1), old: hunk.old, new: hunk.new }
  if (kind === 'added') line.old = null
  else {
    hunk.old_left--
    if (hunk.old !== null) hunk.old++
  }
  if (kind === 'removed') line.new = null
  else {
    hunk.new_left--
    if (hunk.new !== null) hunk.new++
  }
  return line
}

/** What is said about a file before its lines. It is kept in the file itself. */
function isAbout(file: FileLine, text: string): boolean {
  if (text.startsWith('new file mode')) file.change = 'added'
  else if (text.startsWith('deleted file mode')) file.change = 'deleted'
  else if (text.startsWith('rename to ')) {
    file.change = 'renamed'
    file.path = unquoted(text.slice('rename to '.length))
  } else if (text.startsWith('+++ ') || text.startsWith('--- ')) {
    const path = unquoted(text.slice(4).replace(/\t$/, ''))
    if (path !== '/dev/null') file.path = withoutSide(path)
  } else return /^(index |old mode|new mode|similarity index|rename from)/.test(text)
  return true
}

/** `diff --git a/path b/path`: all that is said of a file without lines, such as a binary one. */
function pathOf(text: string): string {
  const names = text.slice('diff --git '.length)
  const half = (names.length - 1) / 2
  // Both names are the same unless it was renamed, which has lines of its own.
  return withoutSide(unquoted(names[half] === ' ' ? names.slice(half + 1) : names))
}

function withoutSide(path: string): string {
  return path.replace(/^[ab]\//, '')
}

const ESCAPED: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 }

/** Git quotes a name that has bytes it would rather not print. */
function unquoted(path: string): string {
  if (!/^".*"$/.test(path)) return path
  const bytes = [...path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)].flatMap(([, octal, letter, plain]) => {
    if (octal !== undefined) return [Number.parseInt(octal, 8)]
    if (letter !== undefined) return [ESCAPED[letter] ?? letter.charCodeAt(0)]
    return [...new TextEncoder().encode(plain)]
  })
  return printable(new TextDecoder().decode(new Uint8Array(bytes)))
}
