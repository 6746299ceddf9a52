import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createKeyReader } from '../../src/cli/chat/keys.js'
import type { Key } from '../../src/cli/chat/keys-sequences.js'

const ESC = '\u001b'
const text = (text: string): Key => ({ kind: 'text', text })
const key = (name: string): Key => ({ kind: 'key', name })

/** What comes of chunks, without waiting for anything that may come after them. */
function keysOf(...chunks: (string | Uint8Array)[]): Key[] {
  const keys: Key[] = []
  const reader = createKeyReader((key) => keys.push(key))
  for (const chunk of chunks) reader.push(chunk)
  reader.reset()
  return keys
}

/** Letters that came one by one are the same as letters that came together. */
function joined(keys: Key[]): Key[] {
  const all: Key[] = []
  for (const each of keys) {
    const last = all.at(-1)
    if (each.kind === 'text' && last?.kind === 'text') all[all.length - 1] = text(last.text + each.text)
    else all.push(each)
  }
  return all
}

describe('keys', () => {
  it.each([
    ['\r', 'enter'],
    ['\n', 'ctrl-j'],
    ['\t', 'tab'],
    ['\u007f', 'backspace'],
    ['\b', 'backspace'],
    ['\u0001', 'ctrl-a'],
    ['\u0003', 'ctrl-c'],
    ['\u0004', 'ctrl-d'],
    ['\u001a', 'ctrl-z'],
    ['\u001f', 'ctrl-_'],
    [`${ESC}\r`, 'alt-enter'],
    [`${ESC}\n`, 'alt-enter'],
    [`${ESC}\u007f`, 'alt-backspace'],
    [`${ESC}b`, 'alt-b'],
    [`${ESC}F`, 'alt-f'],
    [`${ESC}[A`, 'up'],
    [`${ESC}OB`, 'down'],
    [`${ESC}[1;5C`, 'ctrl-right'],
    [`${ESC}[1;3D`, 'alt-left'],
    [`${ESC}Od`, 'ctrl-left'],
    [`${ESC}[H`, 'home'],
    [`${ESC}[4~`, 'end'],
    [`${ESC}[7~`, 'home'],
    [`${ESC}OF`, 'end'],
    [`${ESC}OM`, 'enter'],
    [`${ESC}[3~`, 'delete'],
    [`${ESC}[3;5~`, 'ctrl-delete'],
    [`${ESC}[Z`, 'shift-tab'],
    // Terminals that tell more keys apart: CSI u, and what xterm calls modifyOtherKeys.
    [`${ESC}[13;2u`, 'shift-enter'],
    [`${ESC}[27;2;13~`, 'shift-enter'],
    [`${ESC}[13;3u`, 'alt-enter'],
    [`${ESC}[13;130u`, 'shift-enter'],
    [`${ESC}[27u`, 'escape'],
    [`${ESC}[9;2u`, 'shift-tab'],
    [`${ESC}[99;5u`, 'ctrl-c'],
    [`${ESC}[99:67;69:1u`, 'ctrl-c'],
    [`${ESC}[98;3u`, 'alt-b'],
    [`${ESC}[27;5;114~`, 'ctrl-r'],
    [`${ESC}[45;6u`, 'ctrl--'],
    [`${ESC}[57414u`, 'enter'],
    [`${ESC}[57417;5u`, 'ctrl-left'],
  ])('knows %j as %s', (bytes, name) => {
    expect(keysOf(bytes)).toEqual([key(name)])
  })

  it('takes what is text as text, whatever the terminal calls it', () => {
    expect(keysOf('grüß 你好 👩‍👧 e\u0301')).toEqual([text('grüß 你好 👩‍👧 e\u0301')])
    expect(keysOf(`${ESC}[97u${ESC}[97;2u${ESC}[57400u${ESC}[246u`)).toEqual([
      text('a'),
      text('A'),
      text('1'),
      text('ö'),
    ])
    expect(keysOf('a\u009bb')).toEqual([text('ab')])
  })

  it('passes over what means nothing here, and over what a terminal reports', () => {
    expect(keysOf(`a${ESC}[15~${ESC}[I${ESC}[97;9u${ESC}[[Ab${ESC}OPc`)).toEqual([text('a'), text('b'), text('c')])
    expect(keysOf(`${ESC}]11;rgb:0000/0000/0000\u0007x${ESC}P1$r0m${ESC}\\y`)).toEqual([text('x'), text('y')])
    expect(keysOf(`${ESC}[?0u`)).toEqual([{ kind: 'can_disambiguate' }])
    // A sequence that is broken off by another.
    expect(keysOf(`${ESC}[1;${ESC}[A`)).toEqual([key('up')])
  })

  it('takes a paste as it is: no key in it, line breaks stay, nothing that a terminal would act on', () => {
    const pasted = `one\r\ntwo\rthree\n\tfour\u0003\u0004${ESC}[A${ESC}]0;x\u0007`
    expect(keysOf(`${ESC}[200~${pasted}${ESC}[201~\r`)).toEqual([
      { kind: 'paste', text: 'one\ntwo\nthree\n\tfour[A]0;x' },
      key('enter'),
    ])
  })

  it('is the same in whatever pieces it comes', () => {
    const parts = [
      'a',
      'ö',
      '你',
      '👩‍👧',
      '\r',
      `${ESC}[A`,
      `${ESC}[1;5C`,
      `${ESC}b`,
      `${ESC}[13;2u`,
      `${ESC}[200~x\ry${ESC}[201~`,
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), fc.array(fc.nat(200)), (chosen, cuts) => {
        const bytes = Buffer.from(chosen.join(''))
        const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
        const chunks = [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
        expect(joined(keysOf(...chunks))).toEqual(joined(keysOf(bytes)))
      }),
    )
  })

  it('tells the escape key from a sequence by what comes after it', async () => {
    const keys: Key[] = []
    let heard = () => {}
    const next = () => new Promise<void>((resolve) => (heard = resolve))
    const reader = createKeyReader((key) => {
      keys.push(key)
      heard()
    })
    const first = next()
    reader.push(ESC)
    expect(keys).toEqual([])
    await first
    expect(keys).toEqual([key('escape')])
    // Twice at once is twice.
    reader.push(`${ESC}${ESC}`)
    await next()
    expect(keys.slice(1)).toEqual([key('escape'), key('escape')])
    // A process that was too busy to look has the rest of the sequence waiting; timers come before it.
    await new Promise(setImmediate)
    reader.push(ESC)
    const until = Date.now() + 120
    while (Date.now() < until);
    setImmediate(() => reader.push('[A'))
    await next()
    expect(keys.slice(3)).toEqual([key('up')])
  })

  it('goes on after a sequence that never ends', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const keys: Key[] = []
    const reader = createKeyReader((key) => keys.push(key))
    reader.push(`${ESC}[1;`)
    await vi.advanceTimersByTimeAsync(300)
    reader.push('5')
    await vi.advanceTimersByTimeAsync(300)
    reader.push('a')
    expect(keys).toEqual([text('a')])
    // Alt-] and then words: they are no string of the terminal's.
    reader.push(`${ESC}]wor`)
    await vi.advanceTimersByTimeAsync(300)
    reader.push('ds')
    await vi.advanceTimersByTimeAsync(300)
    expect(keys.slice(1)).toEqual([text('words')])
  })
})
