import { expect, it } from 'vitest'
import { printable, printableAll, printableLine } from '../../src/domain/index.js'

it('shows what nobody would see, and what turns a line around', () => {
  const hidden = [
    '\u001b',
    '\r',
    '\u0085',
    '\u00ad',
    '\u200b',
    '\u200e',
    '\u202e',
    '\u2060',
    '\u2066',
    '\ufeff',
    '\u{e0041}',
  ]
  expect(hidden.map((char) => printable(`a${char}b`))).toEqual(hidden.map(() => 'a�b'))
})

it('leaves alone what is seen: lines, tabs, pictures of several signs, letters that are joined', () => {
  const text = 'a\n\tb 👩\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم עברית'
  expect(printable(text)).toBe(text)
})

it('takes the end of a line for one, wherever the text comes from', () => {
  expect(printable('-a\r\n+b\r\n')).toBe('-a\n+b\n')
  expect(printable('a\r\r\nb\r')).toBe('a�\nb�')
})

it('makes one line of several', () => {
  expect(printableLine('a \n  b\u202e')).toBe('a ⏎ b�')
})

it('goes through all of a value, names included', () => {
  const value = { 'na\u200bme': ['a\u202e', 1, null, true, { deep: '\u2066' }], fine: 'fine' }
  expect(printableAll(value)).toEqual({ 'na�me': ['a�', 1, null, true, { deep: '�' }], fine: 'fine' })
})
