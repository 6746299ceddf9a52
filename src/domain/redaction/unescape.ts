import type { Regions, Suspect } from './scan.js'

const BACKSLASH = 92
const SINGLE = 39
const DOUBLE = 34
const PERCENT = 37
const AMPERSAND = 38
const ESCAPE = 27

const LOWER_U = 117
const UPPER_U = 85
const LOWER_X = 120
const HASH = 35
const OPENING = 123
const CLOSING = 125
const LAST_CHARACTER = 0x10ffff

/** What a letter after a backslash means, by its code. */
const CONTROLS = new Uint8Array(128)
for (const [letter, code] of Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27 })) {
  CONTROLS[letter.charCodeAt(0)] = code
}

/** The longest thing that is undone in one step; an unfinished one is no longer than this. */
const LONGEST_UNIT = 14

const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const PUNCTUATION =
  'Tab:9 NewLine:10 excl:33 quot:34 num:35 dollar:36 percnt:37 amp:38 apos:39 lpar:40 rpar:41 ast:42 midast:42 plus:43 comma:44 period:46 sol:47 colon:58 semi:59 lt:60 equals:61 gt:62 quest:63 commat:64 lsqb:91 lbrack:91 bsol:92 rsqb:93 rbrack:93 Hat:94 lowbar:95 grave:96 lcub:123 lbrace:123 verbar:124 vert:124 rcub:125 rbrace:125 hyphen:45 dash:45'
const ENTITIES = new Map<string, number>([
  ...LATIN.split(' ').map((name, i): [string, number] => [name, 0xa0 + i]),
  ...PUNCTUATION.split(' ').map((entry): [string, number] => {
    const [name = '', code = ''] = entry.split(':')
    return [name, Number(code)]
  }),
])

/** Where an escape can begin. Quotes only matter where a secret has one in it: they are everywhere. */
export function escapeStarts(secrets: readonly string[]): Uint8Array {
  const starts = new Uint8Array(256)
  for (const code of [BACKSLASH, PERCENT, AMPERSAND, ESCAPE, 0]) starts[code] = 1
  if (secrets.some((value) => value.includes("'"))) starts[SINGLE] = 1
  if (secrets.some((value) => value.includes('"'))) starts[DOUBLE] = 1
  return starts
}

/**
 * A text with one layer of escapes undone, and where each was: unit `u` stood at `from[u]` to `from_end[u]` before and
 * became what is at `to[u]` to `to_end[u]`, which may be nothing. All else was copied as it is.
 */
export type Layer = {
  codes: Uint8Array
  length: number
  units: number
  from: Int32Array
  from_end: Int32Array
  to: Int32Array
  to_end: Int32Array
}

/**
 * What stands there: how long it is (0: nothing that can be undone) and what it means: a byte, a character, or nothing
 * at all (-1).
 */
type Unit = { length: number; code: number; is_byte: boolean }

/**
 * Undoes one layer: percent, backslash, HTML entities, quotes inside quotes, and what is not seen (colours, NUL). Gives
 * back where an escape may have been cut off at the end; -1 where none was. `parts`: where escapes can be at all.
 */
export function undoEscapes(
  codes: Uint8Array,
  length: number,
  isStart: Uint8Array,
  into: Layer,
  parts: Regions | null,
): number {
  const unit: Unit = { length: 0, code: -1, is_byte: false }
  into.units = 0
  into.length = 0
  let at = 0
  let unfinished = -1
  const count = parts === null ? 1 : parts.count
  for (let n = 0; n < count; n++) {
    const from = parts === null ? 0 : Math.max(at, parts.from[n] as number)
    const to = parts === null ? length : (parts.to[n] as number)
    copyPart(codes, at, from, into)
    at = from
    while (at < to) {
      const start = nextStart(codes, at, to, isStart)
      copyPart(codes, at, start, into)
      at = start
      if (at === to) break
      const taken = undoOne(codes, length, at, into, unit)
      if (unfinished < 0 && length - at < LONGEST_UNIT && (taken === 0 || at + taken === length)) unfinished = at
      if (taken === 0) copyPart(codes, at, at + 1, into)
      at += taken === 0 ? 1 : taken
    }
  }
  copyPart(codes, at, length, into)
  return unfinished
}

/** What becomes of a text when its escapes are undone, once, twice and so on. */
export function undoneForms(text: readonly number[], isStart: Uint8Array, most: number): Uint8Array[] {
  const forms: Uint8Array[] = []
  let codes = Uint8Array.from(text)
  while (forms.length < most) {
    const layer = createLayer(codes.length)
    undoEscapes(codes, codes.length, isStart, layer, null)
    if (layer.units === 0) break
    codes = layer.codes.slice(0, layer.length)
    forms.push(codes)
  }
  return forms
}

function nextStart(codes: Uint8Array, from: number, to: number, isStart: Uint8Array): number {
  let i = from
  while (i < to && isStart[codes[i] as number] === 0) i++
  return i
}

function copyPart(codes: Uint8Array, from: number, to: number, into: Layer): void {
  const { codes: out, length } = into
  if (to - from > 64) out.set(codes.subarray(from, to), length)
  else for (let i = from; i < to; i++) out[length + i - from] = codes[i] as number
  if (to > from) into.length = length + to - from
}

/** Undoes the escape at a place; how long it was, 0 when there is none. */
function undoOne(codes: Uint8Array, length: number, at: number, into: Layer, unit: Unit): number {
  readUnit(codes, length, at, unit)
  if (unit.length === 0) return 0
  const { units } = into
  if (units === into.from.length) growUnits(into)
  into.from[units] = at
  into.from_end[units] = at + unit.length
  into.to[units] = into.length
  if (unit.code >= 0) {
    into.length = unit.is_byte
      ? put(into.codes, into.length, unit.code)
      : putCharacter(into.codes, into.length, unit.code)
  }
  into.to_end[units] = into.length
  into.units = units + 1
  return unit.length
}

function put(out: Uint8Array, at: number, byte: number): number {
  out[at] = byte
  return at + 1
}

/** As UTF-8, which is never longer than the escape was. */
function putCharacter(out: Uint8Array, at: number, code: number): number {
  if (code < 0x80) return put(out, at, code)
  const bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  out[at] = ((0xf00 >> bytes) & 0xff) | (code >> (6 * (bytes - 1)))
  for (let i = 1; i < bytes; i++) out[at + i] = 0x80 | ((code >> (6 * (bytes - 1 - i))) & 0x3f)
  return at + bytes
}

export function createLayer(size: number): Layer {
  const [from, from_end, to, to_end] = [0, 1, 2, 3].map(() => new Int32Array(64)) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ]
  return { codes: new Uint8Array(size), length: 0, units: 0, from, from_end, to, to_end }
}

function growUnits(layer: Layer): void {
  for (const name of ['from', 'from_end', 'to', 'to_end'] as const) {
    const grown = new Int32Array(layer[name].length * 2)
    grown.set(layer[name])
    layer[name] = grown
  }
}

/** So much around an escape is looked at again; what is farther away was compared up to it. */
const AROUND = 16
const LONGEST_INDENTATION = 48

/** The parts of a layer that are new: around what was undone, and on to the end of white space. */
export function newParts(layer: Layer, suspects: readonly Suspect[]): Regions {
  const from = new Int32Array(layer.units)
  const to = new Int32Array(layer.units)
  let count = 0
  for (let unit = 0; unit < layer.units; unit++) {
    const start = Math.max(0, (layer.to[unit] as number) - AROUND)
    let space = layer.to_end[unit] as number
    const limit = Math.min(layer.length, space + LONGEST_INDENTATION)
    while (space < limit && (layer.codes[space] as number) <= 32) space++
    const end = Math.min(layer.length, space + AROUND)
    if (count > 0 && start <= (to[count - 1] as number)) to[count - 1] = Math.max(end, to[count - 1] as number)
    else {
      from[count] = start
      to[count] = end
      count++
    }
  }
  return { from, to, count, suspects: suspects.map((suspect) => ({ ...suspect, at: targetOf(layer, suspect.at) })) }
}

/** Where a code of the layer came from. */
export function sourceOf(layer: Layer, at: number): { start: number; end: number } {
  const unit = lastUpTo(layer.to, layer.units, at)
  if (unit < 0) return { start: at, end: at + 1 }
  const over = at - (layer.to_end[unit] as number)
  const end = layer.from_end[unit] as number
  return over < 0 ? { start: layer.from[unit] as number, end } : { start: end + over, end: end + over + 1 }
}

/** The escape that a place before the layer is in, or the place itself. */
export function escapeAround(layer: Layer, at: number): { start: number; end: number } {
  const unit = lastUpTo(layer.from, layer.units, at)
  const inside = unit >= 0 && at < (layer.from_end[unit] as number)
  return inside
    ? { start: layer.from[unit] as number, end: layer.from_end[unit] as number }
    : { start: at, end: at + 1 }
}

/** Where a place before the layer is in it. */
export function targetOf(layer: Layer, at: number): number {
  const unit = lastUpTo(layer.from, layer.units, at)
  if (unit < 0) return at
  const over = at - (layer.from_end[unit] as number)
  return over < 0 ? (layer.to[unit] as number) : (layer.to_end[unit] as number) + over
}

/** The last of `count` ascending numbers that is not above a limit; -1 when none is. */
function lastUpTo(numbers: Int32Array, count: number, limit: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function readUnit(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  unit.length = 0
  unit.code = -1
  unit.is_byte = false
  const code = codes[at]
  if (code === BACKSLASH) backslash(codes, length, at, unit)
  else if (code === PERCENT) percent(codes, length, at, unit)
  else if (code === AMPERSAND) entity(codes, length, at, unit)
  else if (code === 0) unit.length = 1
  else if (code === ESCAPE) colour(codes, length, at, unit)
  else quotes(codes, at, unit)
}

function percent(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  const wide = codes[at + 1] === 117
  const digits = wide ? 4 : 2
  const first = wide ? at + 2 : at + 1
  const code = hexAt(codes, length, first, digits)
  if (code < 0) return
  unit.code = code
  unit.is_byte = !wide
  unit.length = first + digits - at
}

function backslash(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  if (at + 1 >= length) return
  const next = codes[at + 1] as number
  if (next > 127) return
  const control = CONTROLS[next] as number
  if (control > 0) {
    unit.code = control
    unit.length = 2
  } else if (next === LOWER_U && codes[at + 2] === OPENING) {
    let end = at + 3
    while (end < length && end < at + 10 && hexAt(codes, length, end, 1) >= 0) end++
    const code = codes[end] === CLOSING ? hexAt(codes, length, at + 3, end - at - 3) : -1
    if (code >= 0 && code <= LAST_CHARACTER) {
      unit.code = code
      unit.length = end + 1 - at
    }
  } else if (next === LOWER_U || next === UPPER_U || next === LOWER_X) {
    const digits = next === LOWER_U ? 4 : next === UPPER_U ? 8 : 2
    const code = hexAt(codes, length, at + 2, digits)
    if (code >= 0 && code <= LAST_CHARACTER) {
      unit.code = code
      unit.is_byte = next === LOWER_X
      unit.length = 2 + digits
      if ((code & 0xfc00) === 0xd800) surrogates(codes, length, at, unit)
    }
  } else if (next >= 48 && next <= 55) {
    let end = at + 1
    let code = 0
    while (end < length && end < at + 4 && (codes[end] as number) >= 48 && (codes[end] as number) <= 55) {
      code = code * 8 + (codes[end] as number) - 48
      end++
    }
    unit.code = code === 0 ? -1 : code & 0xff
    unit.is_byte = true
    unit.length = end - at
  } else if (next === 10) {
    unit.length = 2
  } else if (!isNameCode(next) || next === HASH) {
    unit.code = next
    unit.length = 2
  }
}

/** A character in two halves: `\ud83d\ude00`. */
function surrogates(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  const second = codes[at + 6] === BACKSLASH && codes[at + 7] === LOWER_U ? hexAt(codes, length, at + 8, 4) : -1
  if ((second & 0xfc00) !== 0xdc00 || second < 0) return
  unit.code = 0x10000 + ((unit.code & 0x3ff) << 10) + (second & 0x3ff)
  unit.length = 12
}

function entity(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  let end = at + 1
  while (end < length && end < at + LONGEST_UNIT && isNameCode(codes[end] as number)) end++
  if (end === at + 1) return
  if (codes[at + 1] !== HASH && codes[end] !== 59) return
  const name = String.fromCharCode(...codes.subarray(at + 1, end))
  const closed = codes[end] === 59 ? 1 : 0
  const number = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name)
  const code = number ? Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 16 : 10) : ENTITIES.get(name)
  if (code === undefined || code > 0x10ffff || (!number && !closed)) return
  unit.code = code
  unit.length = end + closed - at
}

function isNameCode(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === HASH
}

/** A quote that is taken out of quotes to be written (`'\''`, `'"'"'`), or doubled, as in SQL and CSV. */
function quotes(codes: Uint8Array, at: number, unit: Unit): void {
  const quote = codes[at] as number
  const next = codes[at + 1]
  if (next === quote) unit.length = 2
  else if (quote !== SINGLE || codes[at + 2] !== SINGLE) return
  else if (next === BACKSLASH && codes[at + 3] === SINGLE) unit.length = 4
  else if (next === DOUBLE && codes[at + 3] === DOUBLE && codes[at + 4] === SINGLE) unit.length = 5
  if (unit.length > 0) unit.code = quote
}

function colour(codes: Uint8Array, length: number, at: number, unit: Unit): void {
  if (codes[at + 1] !== 91) return
  let end = at + 2
  while (end < length && end < at + LONGEST_UNIT && /[0-9;]/.test(String.fromCharCode(codes[end] as number))) end++
  if (codes[end] === 109 || codes[end] === 75) unit.length = end + 1 - at
}

function hexAt(codes: Uint8Array, length: number, at: number, digits: number): number {
  if (at + digits > length || digits === 0) return -1
  let value = 0
  for (let i = at; i < at + digits; i++) {
    const code = codes[i] as number
    const digit =
      code >= 48 && code <= 57
        ? code - 48
        : code >= 97 && code <= 102
          ? code - 87
          : code >= 65 && code <= 70
            ? code - 55
            : -1
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}
