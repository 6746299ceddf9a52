import type { Node } from 'web-tree-sitter'
import { isPlainArithmetic, type Reading, readWord, skipBlanks } from './reading.js'
import { readSimple, readsFile, type Simple } from './simple.js'
import { readTest } from './test-expression.js'

/** Where in the command line a command stands. */
export type Place = {
  depth: number
  /** What it prints is read by a program that may take it for orders. */
  feeds: boolean
  /** It reads what another command prints. */
  after: boolean
  /** A redirection of its own, or of a form around it, gives it a file to read: what only passes on is not nothing. */
  reads: false | 'own' | 'around'
}

/** Told every simple command; answers whether it does nothing by itself. */
type OnSimple = (simple: Simple, place: Place) => boolean

const MAX_DEPTH = 40
const SIMPLE = new Set([
  'command',
  'declaration_command',
  'unset_command',
  'variable_assignment',
  'variable_assignments',
])
const REDIRECTS = new Set(['file_redirect', 'heredoc_redirect', 'herestring_redirect'])

/** Words and signs that each form may have besides the statements in it. Whatever is not listed is not understood. */
const SIGNS: Record<string, readonly string[]> = {
  program: [';', '&', '\n'],
  list: ['&&', '||'],
  subshell: ['(', ')', ';', '&', '\n'],
  compound_statement: ['{', '}', ';', '&', '\n'],
  command_substitution: ['$(', ')', '`', ';', '&', '\n'],
  process_substitution: ['<(', '>(', ')', ';', '&', '\n'],
  do_group: ['do', 'done', ';', '&', '\n'],
  if_statement: ['if', 'then', 'fi', ';', '&', '\n'],
  elif_clause: ['elif', 'then', ';', '&', '\n'],
  else_clause: ['else', ';', '&', '\n'],
  while_statement: ['while', 'until', ';', '&', '\n'],
  negated_command: ['!'],
}

/** Goes through the forms that hold commands; gives back whether all commands in it do nothing by themselves. */
export function walk(reading: Reading, node: Node, place: Place, onSimple: OnSimple): boolean {
  const { doubt, text } = reading
  if (place.depth > MAX_DEPTH) {
    doubt('it is nested too deeply')
    return false
  }
  const inside = { ...place, depth: place.depth + 1 }
  const each = (nodes: readonly Node[], where = inside) =>
    nodes.map((child) => walk(reading, child, where, onSimple)).every((rides) => rides)
  const written = text.slice(node.startIndex, node.endIndex)
  if (node.type === 'test_command' && written.startsWith('[[')) {
    readTest(reading, node.startIndex, node.endIndex)
    return true
  }
  if (SIMPLE.has(node.type) || node.type === 'test_command') return simple(node)
  switch (node.type) {
    case 'pipeline':
      return pipeline()
    case 'redirected_statement':
      return redirected()
    case 'for_statement':
      return loop()
    case 'c_style_for_statement':
      return counting()
    case 'case_statement':
      return choice()
    case 'function_definition':
      return definition()
    case 'comment':
      comment(node)
      return true
  }
  if (written.startsWith('((')) {
    if (node.type !== 'compound_statement' || !isPlainArithmetic(reading, written.slice(2, -2))) {
      doubt('it has arithmetic with variables that are not numbers, or (( for two brackets')
    }
    return true
  }
  const signs = SIGNS[node.type]
  if (!signs) {
    doubt(`it has a form that is not known (${node.type})`)
    return false
  }
  return each(statements(signs))

  /** The statements in this form, when there is nothing in it but them and the signs it may have. */
  function statements(allowed: readonly string[], skip: readonly Node[] = []): Node[] {
    let at = node.startIndex
    const found: Node[] = []
    for (const child of node.children) {
      gap(at, child.startIndex)
      at = child.endIndex
      if (skip.some((other) => other.id === child.id)) continue
      if (child.isNamed) found.push(child)
      else sign(child, allowed)
    }
    // A terminator at the very end of the text belongs to nothing.
    gap(at, node.endIndex)
    return found
  }

  function sign(child: Node, allowed: readonly string[]): void {
    const between = text.slice(child.startIndex, child.endIndex)
    const token = /^\s*\n\s*$/.test(between) ? '\n' : between
    if (!allowed.includes(token)) doubt(`there is an unexpected ${JSON.stringify(between.slice(0, 20))}`)
    // `&` must not be the beginning of something longer that a shell would read.
    const next = text[child.endIndex] ?? ''
    if (/^[&|;]$/.test(token) && /[&|;>]/.test(next) && !(token === '|' && /[>]/.test(next))) {
      doubt(`there is an unexpected ${JSON.stringify(token + next)}`)
    }
  }

  function gap(from: number, to: number): void {
    if (!/^(?:[ \t\n]|\\\n)*$/.test(text.slice(from, to))) {
      doubt(`there is an unexpected ${JSON.stringify(text.slice(from, Math.min(to, from + 20)))}`)
    }
  }

  function comment(child: Node): void {
    const before = text[child.startIndex - 1] ?? ' '
    if (!/[ \t\n;&|()]/.test(before) || text[child.startIndex] !== '#' || child.text.includes('\n')) {
      doubt('a comment begins in an odd place')
    }
  }

  function simple(whole: Node): boolean {
    return onSimple(readSimple(reading, whole.startIndex, whole.endIndex), place)
  }

  function pipeline(): boolean {
    const stages = statements(['|', '|&']).filter((child) => child.type !== 'comment')
    // From the last to the first, because a command may ride only if everything that reads what it prints does.
    let rides = true
    for (const [i, stage] of [...stages.entries()].reverse()) {
      const where = { ...inside, feeds: place.feeds || !rides, after: place.after || i > 0 }
      const alone = walk(reading, stage, where, onSimple)
      rides &&= alone && stage.descendantsOfType(['command_substitution', 'process_substitution']).length === 0
    }
    return rides
  }

  function redirected(): boolean {
    const body = node.childForFieldName('body')
    if (!body || SIMPLE.has(body.type) || (body.type === 'test_command' && !body.text.startsWith('[[')))
      return simple(node)
    const others = statements([]).filter((child) => child.id !== body.id)
    const reads = others.some((redirect) => readsFile(readSimple(reading, redirect.startIndex, redirect.endIndex)))
    const rides = walk(reading, body, { ...inside, reads: reads ? 'around' : inside.reads }, onSimple)
    for (const redirect of others) {
      if (!REDIRECTS.has(redirect.type)) {
        doubt('a redirection has an odd form')
        continue
      }
      const read = readSimple(reading, redirect.startIndex, redirect.endIndex)
      if (read.words.length > 0 || read.assignments.length > 0) doubt('a word follows a redirection')
      onSimple(read, place)
    }
    return rides
  }

  function loop(): boolean {
    const name = node.childForFieldName('variable')
    const body = node.childForFieldName('body')
    const values = node.childrenForFieldName('value')
    const rest = statements(['for', 'in', ';', '\n'], [...(name ? [name] : []), ...values])
    for (const value of values) exactWord(value)
    if (name) onSimple({ assignments: [{ name: name.text, value: '' }], words: [], raws: [], redirections: [] }, place)
    if (!body || !name) doubt('a loop has an odd form')
    return each(rest)
  }

  function counting(): boolean {
    const body = node.childForFieldName('body')
    const head = /^for\s*\(\(([^()]*)\)\)[\s;]*$/.exec(text.slice(node.startIndex, body?.startIndex ?? node.startIndex))
    if (!body || !head || !isPlainArithmetic(reading, head[1] as string)) {
      doubt('it has arithmetic with variables that are not numbers')
      return false
    }
    return each([body])
  }

  function choice(): boolean {
    const value = node.childForFieldName('value')
    if (value) exactWord(value)
    return statements(['case', 'in', 'esac', ';', '\n'], value ? [value] : [])
      .map((item) => {
        if (item.type === 'comment') return walk(reading, item, inside, onSimple)
        if (item.type !== 'case_item') doubt('a case has an odd form')
        const patterns = item.childrenForFieldName('value')
        for (const pattern of patterns) {
          if (!/^(?:[\w.*?/:@-]+|"[\w.* /:@-]*"|'[^']*')$/.test(pattern.text))
            doubt('a case has a pattern that is not plain')
        }
        let at = item.startIndex
        const inner: Node[] = []
        for (const child of item.children) {
          gap(at, child.startIndex)
          at = child.endIndex
          if (patterns.some((pattern) => pattern.id === child.id)) continue
          if (child.isNamed) inner.push(child)
          else sign(child, ['(', ')', '|', ';;', ';&', ';;&', ';', '&', '\n'])
        }
        gap(at, item.endIndex)
        return each(inner)
      })
      .every((rides) => rides)
  }

  function definition(): boolean {
    const name = node.childForFieldName('name')
    const body = node.childForFieldName('body')
    const rest = statements(['function', '(', ')'], name ? [name] : [])
    if (!name || !body || !/^[A-Za-z_]\w*$/.test(name.text) || rest.length !== 1) {
      doubt('a function has an odd form')
      return false
    }
    onSimple({ assignments: [], words: [], raws: [], redirections: [], defines: name.text }, place)
    each([body])
    return false
  }

  function exactWord(value: Node): void {
    const { end } = readWord(reading, skipBlanks(text, value.startIndex))
    if (end !== value.endIndex || !/^[\s;&|)]?$/.test(text.slice(end, end + 1)))
      doubt('a word ends elsewhere than expected')
  }
}
