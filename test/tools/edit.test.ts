import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEdit } from '../../src/tools/edit.js'

const lines = (...all: string[]) => `${all.join('\n')}\n`
const edit = (text: string, old_text: string, new_text: string, replace_all?: boolean) =>
  applyEdit(text, 'a.ts', { old_text, new_text, replace_all })
const failed = (...message: string[]) => ({ ok: false, message: message.join('\n') })

describe('an edit that applies', () => {
  it('replaces the one place and shows the lines around it', () => {
    expect(edit(lines('a', 'b', 'c', 'const x = 1', 'd', 'e', 'f'), 'x = 1', 'x = 2')).toEqual({
      ok: true,
      text: lines('a', 'b', 'c', 'const x = 2', 'd', 'e', 'f'),
      replacements: 1,
      snippet: ['@@ line 4 @@', ' b', ' c', '-const x = 1', '+const x = 2', ' d', ' e'].join('\n'),
    })
  })

  it('replaces all places when told to, those of one line shown together, the rest counted', () => {
    const text = lines('x x', '', '', '', 'x', '', '', '', 'x', '', '', '', 'x x x')
    expect(edit(text, 'x', 'yy', true)).toEqual({
      ok: true,
      text: text.replaceAll('x', 'yy'),
      replacements: 7,
      snippet: [
        '@@ line 1 @@\n-x x\n+yy yy\n \n ',
        '@@ line 5 @@\n \n \n-x\n+yy\n \n ',
        '@@ line 9 @@\n \n \n-x\n+yy\n \n ',
        '[… and 3 more]',
      ].join('\n'),
    })
  })

  it('can remove whole lines, join lines and reach the end of the file', () => {
    expect(edit('a\nb\nc\n', 'b\n', '')).toMatchObject({ text: 'a\nc\n', snippet: '@@ line 2 @@\n a\n-b\n c' })
    expect(edit('a\nb\nc\n', 'a\n', 'a')).toMatchObject({ text: 'ab\nc\n', snippet: '@@ line 1 @@\n-a\n-b\n+ab\n c' })
    expect(edit('a\nb', 'b', 'b\nc')).toMatchObject({ text: 'a\nb\nc', snippet: '@@ line 2 @@\n a\n-b\n+b\n+c' })
    expect(edit('\nb\n', 'b', 'c')).toMatchObject({ text: '\nc\n', snippet: '@@ line 2 @@\n \n-b\n+c' })
    expect(edit('\n\nb', '\n\n', '\n')).toMatchObject({ text: '\nb', snippet: '@@ line 1 @@\n-\n-\n+\n b' })
  })

  it('shows only the start of a long change', () => {
    const result = edit('a\n', 'a', Array.from({ length: 25 }, (_, i) => `n${i + 1}`).join('\n'))
    expect(result.ok && result.snippet.split('\n').slice(-2)).toEqual(['+n20', '+[… 5 more lines]'])
  })

  it('takes new text as it is, whatever is special in a replacement pattern', () => {
    expect(edit('a', 'a', '$& $1 $$')).toMatchObject({ text: '$& $1 $$' })
  })
})

describe('line endings', () => {
  it('of the file are found and kept, though the edit has others', () => {
    expect(edit('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).toMatchObject({ text: 'x\r\ny\r\nz\r\nc\r\n' })
    expect(edit('a\nb\nc\n', 'a\r\nb', 'x\r\ny')).toMatchObject({ text: 'x\ny\nc\n' })
  })

  it('of the file are given to new lines in place of a part of one', () => {
    expect(edit('a\r\nb\r\n', 'b', 'b\nc')).toMatchObject({ text: 'a\r\nb\r\nc\r\n' })
  })

  it('may be mixed', () => {
    expect(edit('1\r\n2\n3\r\n4\r\n', '2\n3\n4', 'x\ny')).toMatchObject({ text: '1\r\nx\r\ny\r\n' })
    expect(edit('a\r\nb\nz\na\r\nb\n', 'a\nb', 'c\nd', true)).toMatchObject({
      text: 'c\nd\nz\nc\nd\n',
      replacements: 2,
    })
  })

  it('are not touched elsewhere', () => {
    const part = fc.constantFrom('a', 'b', '\n', '\r\n')
    const text = fc.array(part).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const result = edit(`${before}Q\r\nQ${after}`, 'Q\nQ', 'R')
        expect(result.ok && result.text).toBe(`${before}R${after}`)
      }),
    )
  })
})

describe('an edit that does not apply', () => {
  it('names the lines when the text is there more than once', () => {
    expect(edit('x\ny\nx\n', 'x', 'z')).toEqual(
      failed('old_text is in a.ts 2 times, at line 1, 3: add lines around it until it is unique, or set replace_all'),
    )
    expect(edit('x\n'.repeat(50), 'x', 'z')).toEqual(
      failed(
        'old_text is in a.ts more than 10 times, at line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …: ' +
          'add lines around it until it is unique, or set replace_all',
      ),
    )
  })

  it('counts places that overlap', () => {
    expect(edit('aaa', 'aa', 'b')).toMatchObject({ ok: false, message: expect.stringContaining('2 times') })
    expect(edit('aaa', 'aa', 'b', true)).toMatchObject({ ok: true, text: 'ba', replacements: 1 })
  })

  it('shows the lines that differ in whitespace alone', () => {
    expect(edit('f() {\n\treturn  1\n}\n', 'f() {\n  return 1\n}', 'x')).toEqual(
      failed(
        'old_text is not in a.ts. These lines differ from it in whitespace alone:',
        '    1\tf() {',
        '    2\t\treturn  1',
        '    3\t}',
      ),
    )
  })

  it('shows the nearest lines', () => {
    const text = lines('alpha', 'function beta(x) {', '  return gamma(x)', '}', 'omega')
    expect(edit(text, 'function beta(x) {\n  return delta(x)\n}', 'x')).toEqual(
      failed(
        'old_text is not in a.ts. The nearest lines:',
        '    2\tfunction beta(x) {',
        '    3\t  return gamma(x)',
        '    4\t}',
      ),
    )
    expect(edit(text, 'return gama(x)', 'x')).toEqual(
      failed('old_text is not in a.ts. The nearest lines:', '    3\t  return gamma(x)'),
    )
    expect(edit(lines('}', '}', 'alpha one'), '}\nalpha two', 'x')).toEqual(
      failed('old_text is not in a.ts. The nearest lines:', '    2\t}', '    3\talpha one'),
    )
    expect(edit(text, ' 1\t', 'x')).toMatchObject({ message: expect.stringContaining('nor anything like it') })
    expect(edit(text, 'zzzzzz', 'x')).toEqual(
      failed('old_text is not in a.ts, nor anything like it: read the file again'),
    )
  })

  it('sees line numbers that were copied from read_file', () => {
    expect(edit('a\r\n b\r\n', '    1\ta\n    2\t b', 'x')).toEqual(
      failed(
        'old_text is not in a.ts with the line numbers that read_file shows: leave them and the tab after them out',
      ),
    )
  })

  it('says that there is nothing to find or nothing to change', () => {
    expect(edit('a', '', 'x')).toEqual(failed('old_text is empty: write_file creates or replaces a whole file'))
    expect(edit('a', 'a', 'a')).toEqual(failed('old_text and new_text are the same: nothing to change'))
    expect(edit('a\r\n', 'a\n', 'a\r\n')).toEqual(failed('old_text and new_text are the same: nothing to change'))
  })

  it('is found out quickly in a large file', () => {
    const started = performance.now()
    expect(edit('const\n'.repeat(1_500_000), 'canst\n'.repeat(2000), 'x').ok).toBe(false)
    expect(edit(`${'a'.repeat(99)}\n`.repeat(100_000), 'bc'.repeat(50), 'x')).toEqual(
      failed('old_text is not in a.ts, nor anything like it in its first 10,000 lines: read the file again'),
    )
    expect(edit('a'.repeat(2_000_000), 'a'.repeat(1_000_000), 'x').ok).toBe(false)
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('any edit', () => {
  it('changes what was asked for and nothing else', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '\n'), { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, (before, old_text, new_text) => {
        const all = edit(before, old_text, new_text, true)
        if (all.ok) expect(all.text).toBe(before.split(old_text).join(new_text))
        const one = edit(before, old_text, new_text)
        if (!one.ok) return
        const at = before.indexOf(old_text)
        expect(before.indexOf(old_text, at + 1)).toBe(-1)
        expect(one.text).toBe(before.slice(0, at) + new_text + before.slice(at + old_text.length))
      }),
      { numRuns: 500 },
    )
  })
})
