/**
 * Path globs for authority. Paths are relative to the workspace root, with `/`, never absolute, never with `..`.
 *
 * `*` and `?` stay inside one path segment, `**` crosses segments, `{a,b}` chooses. A pattern that names a folder
 * also covers everything below it, because a person who grants `src` means the folder, not the directory entry.
 * There is no negation: authority narrows by adding layers, so no pattern ever has to be subtracted from another.
 *
 * Patterns come from strangers' files too, so they are not turned into regular expressions: those can take minutes on
 * a pattern made for it. Here every character of the path is looked at once for each place in the pattern.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  return matches(pathMachine(pattern), path)
}

export function matchesAny(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, path))
}

/** Wildcards in a single word: `*` stands for any characters, nothing else is special. */
export function matchesWord(pattern: string, word: string): boolean {
  return matches(machineFor(pattern, WORDS, compileWord), word)
}

/** The first place of a glob. Machines are about as large as their patterns are long. */
export function pathMachine(pattern: string): Place {
  return machineFor(pattern, PATHS, compilePath)
}

/**
 * A place in a pattern: what it takes and where that leads. `loops`: it may take any number of the same, none as well,
 * before going on.
 */
export type Place =
  | { kind: 'char'; char: string; next: Place }
  | { kind: 'any'; slash: boolean; loops: boolean; next: Place }
  | { kind: 'fork'; ways: Place[] }
  | { kind: 'end' }

const END: Place = { kind: 'end' }
const PATHS = new Map<string, Place>()
const WORDS = new Map<string, Place>()

function machineFor(pattern: string, known: Map<string, Place>, compile: (pattern: string) => Place): Place {
  let machine = known.get(pattern)
  if (!machine) {
    machine = compile(pattern)
    known.set(pattern, machine)
  }
  return machine
}

function matches(machine: Place, text: string): boolean {
  let current = new Set<Place>()
  enter(machine, current)
  for (const char of text) {
    const following = new Set<Place>()
    for (const place of current) {
      if (place.kind === 'char' && place.char === char) enter(place.next, following)
      else if (place.kind === 'any' && (place.slash || char !== '/')) {
        if (place.loops) enter(place, following)
        else enter(place.next, following)
      }
    }
    if (following.size === 0) return false
    current = following
  }
  return current.has(END)
}

/** Adds a place and every place that can be reached from it without taking a character. */
function enter(place: Place, places: Set<Place>): void {
  if (places.has(place)) return
  places.add(place)
  if (place.kind === 'fork') for (const way of place.ways) enter(way, places)
  else if (place.kind === 'any' && place.loops) enter(place.next, places)
}

function compilePath(pattern: string): Place {
  // `src/` and `src/**` are the folder as much as `src` is.
  const trimmed = pattern.replace(/^\.\//, '').replace(/(?:\/|\/\*\*)+$/, '')
  const everything: Place = { kind: 'any', slash: true, loops: true, next: END }
  if (trimmed === '' || trimmed === '.' || trimmed === '**') return everything
  const below: Place = { kind: 'char', char: '/', next: everything }
  return sequence([...trimmed], 0, { kind: 'fork', ways: [END, below] })
}

function compileWord(pattern: string): Place {
  return [...pattern].reduceRight<Place>(
    (next, char) => (char === '*' ? { kind: 'any', slash: true, loops: true, next } : { kind: 'char', char, next }),
    END,
  )
}

function sequence(chars: string[], at: number, end: Place): Place {
  const char = chars[at]
  if (char === undefined) return end
  if (char === '*' && chars[at + 1] === '*') {
    let after = at + 2
    while (chars[after] === '*') after++
    if (chars[after] !== '/') return { kind: 'any', slash: true, loops: true, next: sequence(chars, after, end) }
    // `**/` also stands for no folder at all: `**/x` matches `x`.
    const fork: Place = { kind: 'fork', ways: [sequence(chars, after + 1, end)] }
    const slash: Place = { kind: 'char', char: '/', next: fork }
    const rest: Place = { kind: 'any', slash: false, loops: true, next: slash }
    fork.ways.push({ kind: 'any', slash: false, loops: false, next: rest })
    return fork
  }
  if (char === '*') return { kind: 'any', slash: false, loops: true, next: sequence(chars, at + 1, end) }
  if (char === '?') return { kind: 'any', slash: false, loops: false, next: sequence(chars, at + 1, end) }
  const close = char === '{' ? chars.indexOf('}', at) : -1
  if (close > 0) {
    const after = sequence(chars, close + 1, end)
    const choices = chars
      .slice(at + 1, close)
      .join('')
      .split(',')
    return { kind: 'fork', ways: choices.map((choice) => sequence([...choice], 0, after)) }
  }
  return { kind: 'char', char, next: sequence(chars, at + 1, end) }
}
