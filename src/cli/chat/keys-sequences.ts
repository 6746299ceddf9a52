/** What a person did with the keyboard. */
export type Key =
  | { kind: 'text'; text: string }
  | { kind: 'paste'; text: string }
  /** Any other key, by its name with modifiers in front, always in the order `ctrl-alt-shift-`: `alt-b`, `ctrl-left`. */
  | { kind: 'key'; name: string }
  /** The terminal says that it can tell Shift-Enter from Enter. */
  | { kind: 'can_disambiguate' }

/** A part of the input that is one key, or none that means anything here. */
export type Found = { length: number; key: Key | null; paste?: boolean }

export const ESC = '\u001b'

/** What begins a string that a terminal sends, which may have anything in it. */
export const STRINGS = new Set([`${ESC}]`, `${ESC}P`, `${ESC}_`])

const FINALS: Record<string, string> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end' }
const NUMBERED: Record<number, string> = { 1: 'home', 3: 'delete', 4: 'end', 7: 'home', 8: 'end' }
const CODES: Record<number, string> = { 8: 'backspace', 9: 'tab', 13: 'enter', 27: 'escape', 127: 'backspace' }
/** Keys of the number pad, as terminals name them that tell them from the others. */
const PAD: Record<number, string> = {
  ...{ 57414: 'enter', 57417: 'left', 57418: 'right', 57419: 'up', 57420: 'down' },
  ...{ 57423: 'home', 57424: 'end', 57426: 'delete' },
}
const PAD_CHARACTERS = '0123456789./*-+'
const FIRST_PAD_CHARACTER = 57399

const SHIFT = 1
const ALT = 2
const CTRL = 4
/** Caps lock and num lock are no modifiers of a key. */
const LOCKS = 64 | 128

/** The key that the input begins with, which is an escape; null when more of it must come before that can be said. */
export function sequenceAt(input: string): Found | null {
  const second = input[1]
  if (second === undefined) return null
  if (second === '[') return controlSequence(input)
  if (second === 'O') return singleShift(input)
  if (STRINGS.has(input.slice(0, 2))) return stringSequence(input)
  // Two keys: the second may begin a sequence of its own.
  if (second === ESC) return { length: 1, key: named('escape') }
  const character = String.fromCodePoint(input.codePointAt(1) as number)
  return { length: 1 + character.length, key: altered(character) }
}

/** The key of one control character. */
export function controlKey(character: string): Key | null {
  const code = character.charCodeAt(0)
  const name = CODES[code]
  if (name !== undefined) return named(name)
  if (code === 0) return named('ctrl-space')
  return code < 32 ? named(`ctrl-${String.fromCharCode(code + 64).toLowerCase()}`) : null
}

function controlSequence(input: string): Found | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one
  const [whole] = /^\u001b\[(\[.|[0-?]*[ -/]*[@-~])/.exec(input) ?? []
  if (whole === undefined) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one
    const [begun = ''] = /^\u001b\[\[?[0-?]*[ -/]*/.exec(input) ?? []
    // Something that belongs into no sequence: what came before it was none.
    return begun.length === input.length ? null : { length: begun.length, key: null }
  }
  const body = whole.slice(2, -1)
  if (body === '[') return { length: whole.length, key: null }
  const final = whole.at(-1) as string
  if (final === 'u' && body.startsWith('?')) return { length: whole.length, key: { kind: 'can_disambiguate' } }
  if (final === '~' && body === '200') return { length: whole.length, key: null, paste: true }
  return { length: whole.length, key: keyOf(final, body.split(';').map(firstNumber)) }
}

function keyOf(final: string, numbers: number[]): Key | null {
  const [first = 0, modifiers = 1, third = 0] = numbers
  if (final === 'Z') return named('shift-tab')
  if (final === 'u') return coded(first, modifiers)
  if (final === '~' && first === 27) return coded(third, modifiers)
  const base = final === '~' ? NUMBERED[first] : FINALS[final]
  return base === undefined ? null : withModifiers(base, modifiers)
}

/** A parameter may have more after a colon: the other characters of the key, pressed or released. */
function firstNumber(parameter: string): number {
  return Number.parseInt(parameter, 10) || (parameter === '' ? 1 : 0)
}

function singleShift(input: string): Found | null {
  const third = input[2]
  if (third === undefined) return null
  if (third < ' ') return { length: 2, key: null }
  if (third === 'M') return { length: 3, key: named('enter') }
  const ctrl = 'abcd'.includes(third)
  const base = FINALS[ctrl ? third.toUpperCase() : third]
  return { length: 3, key: base === undefined ? null : named(ctrl ? `ctrl-${base}` : base) }
}

/** What a terminal answers to a question that a program before us asked. */
function stringSequence(input: string): Found | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end with one
  const end = /\u0007|\u001b\\/.exec(input)
  return end === null ? null : { length: end.index + end[0].length, key: null }
}

/** A key by its character or its number, as terminals send it that tell more keys apart. */
function coded(code: number, modifiers: number): Key | null {
  const base = CODES[code] ?? PAD[code]
  if (base !== undefined) return withModifiers(base, modifiers)
  const pad = PAD_CHARACTERS[code - FIRST_PAD_CHARACTER]
  if (pad === undefined && (code < 32 || code > 0x10ffff || (code >= 0xd800 && code < 0xf900))) return null
  const character = pad ?? String.fromCodePoint(code)
  const held = Math.max(0, modifiers - 1) & ~LOCKS
  if (held > SHIFT) return withModifiers(character.toLowerCase(), modifiers)
  return { kind: 'text', text: held === SHIFT ? character.toUpperCase() : character }
}

function withModifiers(base: string, modifiers: number): Key | null {
  const held = Math.max(0, modifiers - 1) & ~LOCKS
  // Keys of the window manager are none of ours.
  if (held > (SHIFT | ALT | CTRL)) return null
  const single = base.length === 1
  const prefix = `${held & CTRL ? 'ctrl-' : ''}${held & ALT ? 'alt-' : ''}${held & SHIFT && !single ? 'shift-' : ''}`
  return named(prefix + base)
}

function altered(character: string): Key | null {
  if (character < ' ' || character === '\u007f') {
    const key = controlKey(character)
    if (character === '\n') return named('alt-enter')
    return key?.kind === 'key' ? named(`alt-${key.name}`) : null
  }
  return named(`alt-${character.toLowerCase()}`)
}

function named(name: string): Key {
  return { kind: 'key', name }
}
