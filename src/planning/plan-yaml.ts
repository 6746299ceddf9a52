import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { isNestedDeeper, offsetOf } from '../control/index.js'
import { quoted } from '../domain/index.js'
import type { PlanFault } from './faults.js'
import type { Path } from './plan-fields.js'

/**
 * Most runs have no plan, and it takes a while to load. `require` because whoever has a text wants to know at once what
 * is in it.
 */
export function loadYaml(): typeof Yaml {
  return createRequire(import.meta.url)('yaml')
}

/** A text as a value, with the way back from a path in the value to a line of the text, from 1. */
export type PlanText = { ok: true; value: unknown; lineOf: LineOf } | { ok: false; faults: PlanFault[] }
export type LineOf = (path: Path, at: 'key' | 'value') => number

const MAX_ALIASES = 50
/** A JSON schema goes deepest. The parser overflows the stack of the process at some thousands. */
export const MAX_DEPTH = 100
export const TOO_DEEP = `lists and mappings are nested deeper than ${MAX_DEPTH} levels: no plan needs that`

/** Reads YAML, and so JSON, from anybody: whatever the text is, the answer is a value or faults, never a throw. */
export function readYamlText(text: string): PlanText {
  const yaml = loadYaml()
  const no = (message: string, line = 1): PlanText => ({ ok: false, faults: [{ path: '', message, line }] })
  if (isNestedDeeper(new yaml.Parser().parse(text), MAX_DEPTH)) return no(TOO_DEEP)
  const lines = new yaml.LineCounter()
  // Whether keys are there twice is looked at below: the parser would compare all of a mapping in pairs.
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const lineAt = (offset: number) => lines.linePos(Math.min(offset, text.length)).line
  // One slip often makes the parser complain several times; the first complaint is the one that helps.
  const [error] = document.errors
  if (error) return no(wordsFor(error), lineAt(error.pos[0]))

  const faults = faultsIn(yaml, document, lineAt)
  if (faults.length > 0) return { ok: false, faults }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return { ok: true, value, lineOf: (path, at) => lineAt(offsetOf(yaml, document, path, at)) }
  } catch {
    // What aliases of aliases come to is known only now.
    return no('its aliases come to too much: write out what they stand for')
  }
}

/** What YAML has and a plan has not: keys twice, tags, and more aliases than somebody needs. */
function faultsIn(yaml: typeof Yaml, document: Yaml.Document.Parsed, lineAt: (offset: number) => number): PlanFault[] {
  const faults: PlanFault[] = []
  const no = (node: Yaml.Node, message: string) =>
    faults.push({ path: '', message, line: lineAt(node.range?.[0] ?? 0) })
  let aliases = 0
  yaml.visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<string>()
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue
        const name = String(key.value)
        if (keys.has(name)) no(key, `the key ${quoted(name)} is there twice: remove one of them`)
        keys.add(name)
      }
    },
    Node: (_, node) => {
      if (!yaml.isAlias(node) && node.tag !== undefined) {
        no(node, `the tag ${quoted(node.tag.replace(/^tag:yaml\.org,2002:/, '!!'))} has no meaning here: remove it`)
      }
    },
    Alias: (_, alias, ancestors) => {
      const target = alias.resolve(document)
      if (++aliases > MAX_ALIASES) {
        no(alias, `there are more than ${MAX_ALIASES} aliases: write out what they stand for`)
        return yaml.visit.BREAK
      }
      if (!target) no(alias, `no anchor &${alias.source} stands before *${alias.source}`)
      else if (ancestors.includes(target)) no(alias, `*${alias.source} is inside of what it stands for`)
      return undefined
    },
  })
  return faults
}

function wordsFor({ code, message }: Yaml.YAMLError): string {
  if (code === 'TAB_AS_INDENT') return 'tabs cannot indent YAML: use spaces'
  if (code === 'MULTIPLE_DOCS') return 'one plan only: remove the line that begins a second one'
  const hint = code === 'BLOCK_AS_IMPLICIT_KEY' ? ': a text with a colon in it goes in quotes' : ''
  return `this is neither YAML nor JSON: ${message}${hint}`
}
