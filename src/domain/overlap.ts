import { matchesAny, type Place, pathMachine } from './globs.js'
import { isProtected } from './protected.js'

/**
 * Whether there could be a path that a glob of each list matches. Names that differ in case alone, or in how an accent
 * is written, are one file on some machines, so they count as the same everywhere.
 */
export function mayOverlap(a: readonly string[], b: readonly string[]): boolean {
  const walk: Walk = { left: MOST_PAIRS }
  return a.some((one) =>
    b.some((other) => SPELLINGS.some((spell) => meet(pathMachine(spell(one)), pathMachine(spell(other)), walk))),
  )
}

/** The paths that not every layer of globs takes, or that belong to git or Retinue. */
export function outsideOf(layers: readonly (readonly string[])[], paths: readonly string[]): string[] {
  return paths.filter((path) => isProtected(path) || layers.some((layer) => !matchesAny(layer, path)))
}

/** How many pairs of places may still be looked at. */
type Walk = { left: number }

/**
 * Far more than honest patterns need. Models write them, so there is an end to what is looked at; past it the answer is
 * yes, which costs whoever wrote them time and nobody a file.
 */
const MOST_PAIRS = 200_000

/** As it is, because wildcards count characters; and composed, because some file systems compare names that way. */
const SPELLINGS = [folded, (pattern: string) => folded(pattern.normalize('NFC'))]

/** Each character by itself, so that a wildcard for one still stands for one. */
function folded(pattern: string): string {
  return [...pattern].map((char) => lower(upper(char))).join('')
}

const upper = (char: string) => single(char, char.toUpperCase())
const lower = (char: string) => single(char, char.toLowerCase())

function single(char: string, changed: string): string {
  return [...changed].length === 1 ? changed : char
}

/** Whether two machines take a text in common: both are walked at once, and no pair of places is looked at twice. */
function meet(one: Place, other: Place, walk: Walk): boolean {
  const seen = new Map<Place, Set<Place>>()
  const open: [Place, Place][] = []
  const look = (a: Place, b: Place) => {
    const known = seen.get(a) ?? new Set()
    if (known.has(b)) return
    seen.set(a, known.add(b))
    open.push([a, b])
  }
  look(one, other)
  for (let pair = open.pop(); pair; pair = open.pop()) {
    if (walk.left-- <= 0) return true
    const [a, b] = pair
    if (a.kind === 'end' && b.kind === 'end') return true
    for (const next of waysOn(a)) look(next, b)
    for (const next of waysOn(b)) look(a, next)
    const next = taken(a, b)
    if (next) look(...next)
  }
  return false
}

/** Where a place leads without taking a character. */
function waysOn(place: Place): readonly Place[] {
  if (place.kind === 'fork') return place.ways
  return place.kind === 'any' && place.loops ? [place.next] : []
}

/** Where two places lead by a character that both take, or null where there is none. */
function taken(a: Place, b: Place): [Place, Place] | null {
  if (a.kind === 'char' && b.kind === 'char') return a.char === b.char ? [a.next, b.next] : null
  if (a.kind === 'char' && b.kind === 'any') return b.slash || a.char !== '/' ? [a.next, past(b)] : null
  if (a.kind === 'any' && b.kind === 'char') return a.slash || b.char !== '/' ? [past(a), b.next] : null
  // Two wildcards have all characters but the slash in common.
  return a.kind === 'any' && b.kind === 'any' ? [past(a), past(b)] : null
}

function past(place: Extract<Place, { kind: 'any' }>): Place {
  return place.loops ? place : place.next
}
