import type * as Yaml from 'yaml'
import type { Problem } from './problem.js'
import { isNestedDeeper, offsetOf, type Path } from './yaml-nodes.js'

type Position = { line: number; column: number }

/** A file as a plain value, with the way back from a path in the value to a place in the text. */
export type YamlFile = {
  /** null where the file says nothing. */
  value: unknown
  problems: Problem[]
  /** Problems may have left the value incomplete, so that checking it further would only confuse. */
  broken: boolean
  locate: (path: Path, at: 'key' | 'value') => Position
}

/** A stranger's file must not be able to keep the parser busy for long: it compares all keys of a mapping in pairs. */
const MAX_CHARS = 32 * 1024
const MAX_ALIASES = 50
/** The deepest setting is at 4. The parser overflows the stack of the process at some thousands. */
const MAX_DEPTH = 32

/** Reads YAML from anybody: whatever the text is, the answer is a value or problems, never a throw. */
export async function readYaml(file: string, text: string): Promise<YamlFile> {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  const start = { line: 1, column: 1 }
  const unreadable = (message: string, position: Position = start): YamlFile => ({
    value: null,
    problems: [{ file, ...position, message, nearest: null }],
    broken: true,
    locate: () => position,
  })

  if (source.length > MAX_CHARS) return unreadable(`the file is too large: at most ${MAX_CHARS} characters are read`)
  const foreign = source.search(/[\0\uFFFD]/)
  if (foreign >= 0) return unreadable('the file is not UTF-8 text', positionOf(source, foreign))

  const yaml = await import('yaml')
  if (isNestedDeeper(new yaml.Parser().parse(source), MAX_DEPTH))
    return unreadable(`nested deeper than ${MAX_DEPTH} levels`)
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.min(offset, source.length))
    return { line, column: col }
  }

  const problems: Problem[] = []
  const report = (offset: number, message: string) =>
    problems.push({ file, ...position(offset), message, nearest: null })
  const faults = [...document.errors, ...document.warnings]
  for (const fault of firstPerLine(faults, position)) report(fault.pos[0], wordsFor(fault, source))
  let broken = faults.some((fault) => fault.code !== 'DUPLICATE_KEY')
  const damage = (offset: number, message: string) => {
    report(offset, message)
    broken = true
  }
  let aliases = 0
  yaml.visit(document, {
    Pair: (_, pair) => {
      const offset = yaml.isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
      if (!yaml.isScalar(pair.key)) report(offset, 'a key must be plain text')
      // Plain objects cannot carry this key, so it would be dropped without a word.
      else if (pair.key.value === '__proto__') report(offset, 'unknown key "__proto__"')
      else return undefined
      return yaml.visit.REMOVE
    },
    Alias: (_, alias, ancestors) => {
      const offset = alias.range?.[0] ?? 0
      if (++aliases > MAX_ALIASES) {
        damage(offset, `more than ${MAX_ALIASES} aliases`)
        return yaml.visit.BREAK
      }
      const target = alias.resolve(document)
      if (!target) damage(offset, `no anchor &${alias.source} stands before *${alias.source}`)
      else if (ancestors.includes(target)) damage(offset, `*${alias.source} is inside what it refers to`)
      return undefined
    },
  })

  let value: unknown = null
  try {
    if (!broken) value = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    // What aliases of aliases come to is known only now.
    damage(0, error instanceof Error ? error.message : String(error))
  }
  return { value, problems, broken, locate: (path, at) => position(offsetOf(yaml, document, path, at)) }
}

/** One slip often makes the parser complain several times; the first complaint is the one that helps. */
function firstPerLine(faults: Yaml.YAMLError[], position: (offset: number) => Position): Yaml.YAMLError[] {
  const seen = new Set<number>()
  return faults.filter((fault) => {
    const { line } = position(fault.pos[0])
    return !seen.has(line) && seen.add(line)
  })
}

function wordsFor(fault: Yaml.YAMLError, source: string): string {
  switch (fault.code) {
    case 'DUPLICATE_KEY':
      return `key ${JSON.stringify(/^[^\s:]*/.exec(source.slice(fault.pos[0]))?.[0])} appears twice`
    case 'TAB_AS_INDENT':
      return 'tabs cannot indent YAML: use spaces'
    case 'MULTIPLE_DOCS':
      return 'one document only: remove the line that begins a second one'
    case 'TAG_RESOLVE_FAILED':
      return `${fault.message}: tags have no meaning here`
    default:
      return `not valid YAML: ${fault.message}`
  }
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
