import type { Node } from 'web-tree-sitter'
import type { CommandPart } from '../../domain/index.js'
import { ANY_VARIABLE, type Found, partsOf } from './effects.js'
import { parseTree } from './grammar.js'
import type { Reading, Variables } from './reading.js'
import { type Place, walk } from './structure.js'
import { variablesIn } from './variables.js'

/** Every simple command and every write in a command line; or why it could not be understood. */
export type ParsedCommand = { ok: true; parts: CommandPart[] } | { ok: false; why: string }

const MAX_CHARS = 20_000
const MAX_NODES = 20_000
const MAX_PARTS = 500
const PARSE_MS = 1000
/** `bash -c "bash -c ..."` is looked into this often. */
const MAX_SCRIPTS = 3

/** Blanks that a shell takes for letters, letters that nobody sees, and control characters. */
const ODD_CHARACTER = /(?![\t\n ])[\p{Z}\p{C}]/u

const ALONE: Place = { depth: 0, feeds: false, after: false, reads: false }

export function parseCommand(text: string): Promise<ParsedCommand> {
  return parse(text, ALONE, 0)
}

async function parse(text: string, place: Place, depth: number): Promise<ParsedCommand> {
  if (text.length > MAX_CHARS) return { ok: false, why: `it is longer than ${MAX_CHARS} characters` }
  if (depth > MAX_SCRIPTS) return { ok: false, why: 'it has scripts inside scripts' }
  if (ODD_CHARACTER.test(text)) return { ok: false, why: 'it has control characters or blanks that are none' }
  const tree = await parseTree(text, PARSE_MS)
  if (!tree) return { ok: false, why: 'reading it took too long' }
  let found: ReturnType<typeof readTree>
  try {
    found = readTree(text, tree.rootNode, place)
  } finally {
    tree.delete()
  }
  if (!found.ok) return found
  const parts = [...found.parts]
  for (const script of found.scripts) {
    const inner = await parse(script.text, script.place, depth + 1)
    if (!inner.ok) return inner
    parts.push(...inner.parts)
  }
  if (parts.length > MAX_PARTS) return { ok: false, why: `it has more than ${MAX_PARTS} commands` }
  return { ok: true, parts }
}

type ReadTree = ({ ok: true } & Omit<Found, 'doubt'>) | { ok: false; why: string }

function readTree(text: string, root: Node, start: Place): ReadTree {
  if (root.hasError) return { ok: false, why: 'its syntax is not clear' }
  const expansions = new Map<number, Node>()
  let substitutions = 0
  let nodes = 0
  const queue = [root]
  for (let node = queue.pop(); node; node = queue.pop()) {
    if (++nodes > MAX_NODES) return { ok: false, why: 'it is too large' }
    if (node.isMissing || node.isError) return { ok: false, why: 'its syntax is not clear' }
    if (EXPANSIONS.has(node.type)) expansions.set(node.startIndex, node)
    if (SUBSTITUTIONS.has(node.type)) substitutions++
    queue.push(...node.children)
  }
  const assigned = variablesIn({ text, expansions, variables: new Map(), doubt: () => {}, enter: () => {} }, root)
  const first = readCommands(text, root, start, { expansions, substitutions, variables: assigned })
  if (!first.ok || first.changed.size === 0) return first
  // What a builtin may have changed is known only after its words were read, so they are read again without it.
  const variables = new Map(
    [...assigned].filter(([name]) => !first.changed.has(ANY_VARIABLE) && !first.changed.has(name)),
  )
  return readCommands(text, root, start, { expansions, substitutions, variables })
}

type Known = { expansions: Map<number, Node>; substitutions: number; variables: Variables }

function readCommands(
  text: string,
  root: Node,
  start: Place,
  { expansions, substitutions, variables }: Known,
): ReadTree {
  let why: string | null = null
  const doubt = (reason: string) => {
    why ??= reason
  }
  const found: Found = { parts: [], scripts: [], changed: new Set(), doubt }
  const entered = new Set<number>()
  const pending: { node: Node; place: Place }[] = []
  let place = start
  const reading: Reading = {
    text,
    expansions,
    variables,
    doubt,
    enter: (node) => {
      if (entered.has(node.startIndex)) return
      entered.add(node.startIndex)
      const feeds = node.type === 'process_substitution'
      pending.push({ node, place: { depth: place.depth + 1, feeds, after: false, reads: place.reads } })
    },
  }
  walk(reading, root, place, (simple, where) => partsOf(found, simple, where))
  for (let next = pending.shift(); next && why === null; next = pending.shift()) {
    place = next.place
    walk(reading, next.node, next.place, (simple, where) => partsOf(found, simple, where))
  }
  if (!/^\s*$/.test(text.slice(0, root.startIndex) + text.slice(root.endIndex))) doubt('something stands beside it')
  // One that no word led to would be a command that nobody has looked at.
  if (entered.size !== substitutions) doubt('it has substitutions in odd places')
  return why === null ? { ok: true, ...found } : { ok: false, why }
}

const SUBSTITUTIONS = new Set(['command_substitution', 'process_substitution'])
const EXPANSIONS = new Set([...SUBSTITUTIONS, 'expansion', 'simple_expansion', 'arithmetic_expansion'])
