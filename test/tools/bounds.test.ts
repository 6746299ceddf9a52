import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundOutput } from '../../src/tools/index.js'

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join('')

describe('boundOutput', () => {
  it('leaves an output that fits as it is', () => {
    expect(boundOutput('0123456789', { max_chars: 10, call_id: 'c1' })).toEqual({ content: '0123456789', cut: false })
  })

  it('keeps two thirds from the start and one third from the end, at line borders, and says what is missing', () => {
    expect(boundOutput(lines(100), { max_chars: 200, call_id: 'c7' })).toEqual({
      cut: true,
      content: [
        ...Array.from({ length: 11 }, (_, i) => `line ${i + 1}`),
        '[… 680 of 792 characters left out; read_output {"output":"c7"} shows them …]',
        'line 97',
        'line 98',
        'line 99',
        'line 100',
        '',
      ].join('\n'),
    })
  })

  it('loses no line where the cut falls on a border by itself', () => {
    const { content } = boundOutput(`${'x'.repeat(900)}\n${'y'.repeat(5)}\n${'z'.repeat(23)}`, {
      max_chars: 166,
      call_id: 'c7',
    })
    expect(content.split('\n').slice(2)).toEqual(['y'.repeat(5), 'z'.repeat(23)])
  })

  it('cuts inside a line when there is no border nearby', () => {
    const { content } = boundOutput('x'.repeat(1000), { max_chars: 170, call_id: 'c7' })
    expect(content).toBe(
      `${'x'.repeat(59)}\n[… 912 of 1,000 characters left out; read_output {"output":"c7"} shows them …]\n${'x'.repeat(29)}`,
    )
  })

  it('gives the note alone where there is room for nothing else', () => {
    expect(boundOutput('x'.repeat(1000), { max_chars: 20, call_id: 'c7' }).content).toBe(
      '[… 1,000 of 1,000 characters left out; read_output {"output":"c7"} shows them …]\n',
    )
  })

  it('never exceeds its bound, never splits a character, and counts exactly what it left out', () => {
    const text = fc.array(fc.oneof(fc.constantFrom('\n', '😀', 'a', '\r\n'), fc.string({ unit: 'grapheme' })), {
      minLength: 100,
      maxLength: 400,
    })
    fc.assert(
      fc.property(text, fc.integer({ min: 100, max: 300 }), (parts, max_chars) => {
        const whole = parts.join('')
        const bounded = boundOutput(whole, { max_chars, call_id: 'c12' })
        if (!bounded.cut) return bounded.content === whole
        const note = /\n?\[… ([\d,]+) of ([\d,]+) characters left out; [^\n]* …\]\n/.exec(bounded.content)
        if (!note) return false
        const at = bounded.content.indexOf('[…')
        const start = bounded.content.slice(0, at)
        const end = bounded.content.slice(note.index + note[0].length)
        const missing = Number(note[1]?.replaceAll(',', ''))
        // A line break before the note is the text's own, or was put there.
        const heads = [start, start.slice(0, -1)]
        expect(bounded.content.length).toBeLessThanOrEqual(max_chars)
        expect(whole.endsWith(end)).toBe(true)
        expect(
          heads.some((head) => whole.startsWith(head) && missing === whole.length - head.length - end.length),
        ).toBe(true)
        expect(Buffer.from(bounded.content).toString()).toBe(bounded.content)
      }),
    )
  })
})
