import { utf8 } from './encodings.js'
import { needlesOf, SHORTEST_NEEDLE } from './forms.js'
import { createScan, type Found, type Regions, type Scanned } from './scan.js'
import {
  createLayer,
  escapeAround,
  escapeStarts,
  type Layer,
  newParts,
  sourceOf,
  targetOf,
  undoEscapes,
  undoneForms,
} from './unescape.js'

/** Where secrets are: in order, apart from each other. `open` as in a scan. */
export type Findings = { found: readonly Found[]; open: number }
/** `may_go_on`: what follows is not known yet. Without it nothing is open. */
export type Find = (content: string | Uint8Array, may_go_on?: boolean) => Findings

/** Escapes inside escapes that are undone: a quoted shell command in JSON in JSON. */
const MOST_LAYERS = 4
/** Buffers up to this size are kept between texts. */
const KEPT_LENGTH = 1 << 18
/** Behind the end of a text, so that looking ahead finds nothing that was left there by another one. */
const SENTINELS = 16

/** A digest may hold a short secret by chance, and must not be touched: fewer characters than this do not count in it. */
const DIGEST = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const LEAST_IN_DIGEST = 16

const NOTHING: Findings = { found: [], open: -1 }

/** Looks for needles in a text, and in what the text means when its escapes are undone. */
export function createFinder(values: readonly string[]): Find {
  const isEscape = escapeStarts(values)
  const needles = values.flatMap((value, i) => needlesOf(i, value, undoneForms(utf8(value), isEscape, MOST_LAYERS)))
  const scan = createScan(needles, isEscape)
  const encoder = new TextEncoder()
  const starters = [...isEscape.keys()].filter((code) => isEscape[code] === 1 && code !== 0).concat(0)
  const kept: Layer[] = []

  function layer(depth: number, length: number): Layer {
    const size = length + SENTINELS
    const old = kept[depth]
    if (old && old.codes.length >= size) return old
    if (length > KEPT_LENGTH) return createLayer(size)
    const made = createLayer(Math.max(4096, size * 2))
    kept[depth] = made
    return made
  }

  return (content, may_go_on = false) => {
    if (content.length < SHORTEST_NEEDLE && !may_go_on) return NOTHING
    const original = typeof content === 'string' ? encode(content) : copy(content)
    const first = scan(original.codes, original.length, null, may_go_on)
    const layers: Layer[] = []
    const scans: Scanned[] = [first]
    if (hasEscapes(original)) undoAll(original, layers, scans, may_go_on)
    const places = layers.length === 0 ? first.found : placesOf(scans, layers)
    const { open } = layers.length === 0 ? first : { open: openOf(scans, layers) }
    if (places.length === 0 && open < 0) return NOTHING
    const isDigest = typeof content === 'string' && DIGEST.test(content)
    const found = merged(isDigest ? places.filter(({ start, end }) => end - start >= LEAST_IN_DIGEST) : places)
    if (typeof content !== 'string' || original.length === content.length) return { found, open }
    return inCharacters(content, found, open)
  }

  /** Undoes one layer after the other, and looks into each. */
  function undoAll(original: Layer, layers: Layer[], scans: Scanned[], may_go_on: boolean): void {
    let from = original
    let parts: Regions | null = null
    let certain = -1
    for (let depth = 0; ; depth++) {
      const into = layer(depth + 1, original.length)
      const scanned = scans[depth] as Scanned
      // An escape that is not finished can become anything: what stands before it is an end too.
      certain = earlier(certain, undoEscapes(from.codes, from.length, isEscape, into, parts))
      if (may_go_on && certain >= 0) {
        const before = scan(from.codes, certain, parts, true)
        scanned.open = earlier(scanned.open, earlier(before.open, certain))
      }
      if (into.units === 0 || depth === MOST_LAYERS) return
      if (certain >= 0) certain = targetOf(into, certain)
      into.codes.fill(0, into.length, into.length + SENTINELS)
      parts = newParts(into, scanned.suspects)
      layers.push(into)
      scans.push(scan(into.codes, into.length, parts, may_go_on))
      from = into
    }
  }

  /** A text as UTF-8. Most have a byte per character, and room for more is only made where it is needed. */
  function encode(text: string): Layer {
    let into = layer(0, text.length)
    let done = encoder.encodeInto(text, into.codes)
    if (done.read < text.length || into.codes.length - done.written < SENTINELS) {
      into = createLayer(text.length * 3 + SENTINELS)
      done = encoder.encodeInto(text, into.codes)
    }
    into.length = done.written
    into.codes.fill(0, into.length, into.length + SENTINELS)
    return into
  }

  function copy(bytes: Uint8Array): Layer {
    const into = layer(0, bytes.length)
    into.codes.set(bytes)
    into.codes.fill(0, bytes.length, bytes.length + SENTINELS)
    into.length = bytes.length
    return into
  }

  function hasEscapes({ codes, length }: Layer): boolean {
    const text = codes.subarray(0, length)
    return starters.some((code) => text.includes(code))
  }
}

/** Places of bytes as places of characters. */
function inCharacters(text: string, found: readonly Found[], open: number): Findings {
  const wanted = new Set(found.flatMap(({ start, end }) => [start, end]))
  if (open >= 0) wanted.add(open)
  const places = new Map<number, number>()
  let bytes = 0
  for (let i = 0; i <= text.length; i++) {
    if (wanted.has(bytes)) places.set(bytes, places.get(bytes) ?? i)
    const code = text.codePointAt(i) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (code > 0xffff) i++
  }
  const at = (place: number, otherwise: number) => places.get(place) ?? otherwise
  return {
    found: found.map(({ start, end, secret }) => ({ start: at(start, 0), end: at(end, text.length), secret })),
    open: open < 0 ? -1 : at(open, 0),
  }
}

/** What was found in each layer, as places of the original. */
function placesOf(scans: readonly Scanned[], layers: readonly Layer[]): Found[] {
  const places: Found[] = []
  scans.forEach(({ found }, depth) => {
    const above = layers[depth]
    for (const { secret, ...range } of found) {
      let { start, end } = range
      // No escape is cut in two: a JSON text with a mask in it is a JSON text.
      if (above) [start, end] = [escapeAround(above, start).start, escapeAround(above, end - 1).end]
      for (const layer of layers.slice(0, depth).reverse()) {
        ;[start, end] = [sourceOf(layer, start).start, sourceOf(layer, end - 1).end]
      }
      places.push({ start, end, secret })
    }
  })
  return places
}

/** The earliest place of the original from which on some layer is open, with no escape of any layer cut in two. */
function openOf(scans: readonly Scanned[], layers: readonly Layer[]): number {
  const opens = scans.map(({ open }) => open)
  layers.forEach((layer, depth) => {
    const below = opens[depth] as number
    if (below < 0) return
    opens[depth] = escapeAround(layer, below).start
    opens[depth + 1] = earlier(opens[depth + 1] as number, targetOf(layer, below))
  })
  let open = opens.at(-1) as number
  for (let depth = layers.length - 1; depth >= 0; depth--) {
    if (open >= 0) open = sourceOf(layers[depth] as Layer, open).start
    open = earlier(open, opens[depth] as number)
  }
  return open
}

function earlier(a: number, b: number): number {
  return a < 0 ? b : b < 0 ? a : Math.min(a, b)
}

function merged(places: readonly Found[]): readonly Found[] {
  const sorted = [...places].sort((a, b) => a.start - b.start || b.end - a.end)
  const apart: Found[] = []
  let longest = 0
  for (const place of sorted) {
    const last = apart.at(-1)
    if (!last || place.start >= last.end) {
      apart.push({ ...place })
      longest = place.end - place.start
      continue
    }
    if (place.end - place.start > longest) {
      longest = place.end - place.start
      last.secret = place.secret
    }
    last.end = Math.max(last.end, place.end)
  }
  return apart
}
