import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Editor, editorOf, press } from '../../src/cli/chat/editor.js'
import { completed, type InputState, inputOf, pressed, type Wish } from '../../src/cli/chat/editor-input.js'
import { rowsOfText } from '../../src/cli/chat/editor-rows.js'
import type { Key } from '../../src/cli/chat/keys-sequences.js'

const COLUMNS = 20
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const isName = (step: string) => /^<[a-z_-]+>$/.test(step)
/** `ab<left>c` as keys. */
const keysOf = (typed: string): Key[] =>
  typed
    .split(/(<[a-z_-]+>)/)
    .filter((part) => part !== '')
    .flatMap((part): Key[] =>
      isName(part) ? [{ kind: 'key', name: part.slice(1, -1) }] : [...part].map((text) => ({ kind: 'text', text })),
    )

/** The text with a bar where the cursor is. */
const seen = ({ text, cursor }: Editor) => `${text.slice(0, cursor)}|${text.slice(cursor)}`
const type = (typed: string, history: string[] = []) =>
  seen(keysOf(typed).reduce((editor, key) => press(editor, key, COLUMNS), editorOf(history)))

describe('the editor', () => {
  it.each([
    ['moves by characters as a person sees them', 'a👩‍👧e\u0301<left><left>x', 'ax|👩‍👧e\u0301'],
    ['erases them whole', 'a👩‍👧🇩🇪e\u0301<backspace><backspace>', 'a👩‍👧|'],
    ['and after the cursor', '👩‍👧b<home><delete>', '|b'],
    ['moves by words', 'one two-three<alt-b><alt-b>|<ctrl-left><ctrl-right>', 'one| |two-three'],
    ['goes to the ends of a line', 'ab<alt-enter>cd<home>x<end>y<up><ctrl-a>z', 'z|ab\nxcdy'],
    ['kills to the end of a line, then its line break', 'ab<ctrl-j>cd<up><home><ctrl-k><ctrl-k>', '|cd'],
    ['kills to the beginning', 'ab<ctrl-j>cd<left><ctrl-u>', 'ab\n|d'],
    ['and then the line break before it', 'ab<ctrl-j>cd<ctrl-u><ctrl-u>', 'ab|'],
    ['brings back what was killed in a row', 'one two three<ctrl-w><ctrl-w><home><ctrl-y>', 'two three|one '],
    ['in the order it had', 'one two<home><alt-d><alt-d><ctrl-y>!', 'one two!|'],
    ['kills up to a blank, or only letters', 'a b.c d.e<alt-backspace><left><ctrl-w>', 'a b.c |.'],
    ['undoes a word at a time', 'one two<ctrl-_>', 'one|'],
    ['and whatever else was done', 'one<ctrl-u><ctrl-_>', 'one|'],
    ['and no more than was done', 'one<ctrl-_><ctrl-_>', '|'],
    ['keeps the column across a shorter line', 'abcdef<ctrl-j>x<ctrl-j>abcdef<left><up><up>|', 'abcde||f\nx\nabcdef'],
    ['goes through rows where a line was wrapped', `${'a'.repeat(25)}<up>|`, `aaaaa||${'a'.repeat(20)}`],
    ['goes to the ends of the text before it goes nowhere', 'ab<left><down>c<up>d', 'd|abc'],
  ])('%s', (_, typed, expected) => {
    expect(type(typed)).toBe(expected)
  })

  it('recalls what was said, and keeps what was being written and what was changed', () => {
    const history = ['first', 'second\nline']
    expect(type('draft<up>', history)).toBe('second\nline|')
    expect(type('draft<up><up>', history)).toBe('seco|nd\nline')
    expect(type('draft<up><up><up>', history)).toBe('first|')
    expect(type('draft<up><up><up><up>', history)).toBe('|first')
    expect(type('draft<up><up><up>!<down><down>', history)).toBe('draft|')
    expect(type('draft<up><up><up>!<down><up><up>', history)).toBe('first!|')
    expect(type('draft<up><ctrl-_>', history)).toBe('draft|')
  })

  it('wraps by what characters take on the screen', () => {
    expect(rowsOfText('', 4)).toEqual([{ from: 0, to: 0 }])
    expect(rowsOfText('你好吗\nab', 4)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 3 },
      { from: 4, to: 6 },
    ])
  })

  it('stays whole whatever keys are pressed', () => {
    const names = [
      ...['left', 'right', 'up', 'down', 'home', 'end', 'alt-b', 'alt-f', 'backspace', 'delete', 'ctrl-d', 'alt-d'],
      ...['ctrl-k', 'ctrl-u', 'ctrl-w', 'ctrl-y', 'ctrl-_', 'alt-enter', 'alt-backspace', 'f1'],
      ...['enter', 'tab', 'escape', 'ctrl-r', 'ctrl-c', 'shift-tab'],
    ]
    const texts = [
      'a',
      'b ',
      '\\',
      '/',
      'é',
      'e\u0301',
      '\u0301',
      '\u200d',
      '👩',
      '👩‍👧',
      '🇩',
      '🇪',
      '你',
      '\ufe0f',
      '각',
      'क्षि',
    ]
    const anyKey = fc.oneof(
      fc.constantFrom(...names).map((name): Key => ({ kind: 'key', name })),
      fc.constantFrom(...texts).map((text): Key => ({ kind: 'text', text })),
      fc.constantFrom('x\ny', '\n', '\u0301\n\t', 'long '.repeat(9)).map((text): Key => ({ kind: 'paste', text })),
    )
    const history = ['first', 'second\nline', '']
    fc.assert(
      fc.property(
        fc.array(anyKey, { maxLength: 60 }),
        fc.integer({ min: 2, max: 30 }),
        fc.boolean(),
        (keys, columns, busy) => {
          let state = inputOf(history)
          let now = 0
          for (const key of keys) {
            const said: string[] = []
            now += 500
            const { state: after, wish } = pressed(state, key, { columns, busy, now })
            state = after
            if (wish?.kind === 'said') said.push(wish.text)
            if (wish?.kind === 'complete' || wish?.kind === 'refresh') {
              const { cursor } = state.editor
              const from = Math.max(0, cursor - 1)
              const at = [...graphemes.segment(state.editor.text)].some(({ index }) => index === from) ? from : cursor
              state = completed(state, {
                from: at,
                to: cursor,
                choices: ['/ab ', '/abc ', '👩x'].map((text) => ({ text })),
              })
            }
            const { text, cursor, past } = state.editor
            expect(cursor).toBeGreaterThanOrEqual(0)
            expect(cursor).toBeLessThanOrEqual(text.length)
            const places = [...graphemes.segment(text)].map(({ index }) => index)
            expect([...places, text.length]).toContain(cursor)
            expect(past.length).toBeLessThanOrEqual(200)
            expect(state.editor.history.entries.slice(0, 3)).toEqual(history)
            for (const each of said) expect(each.trim()).not.toBe('')
            const rows = rowsOfText(text, columns)
            expect(rows.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text.replaceAll('\n', ''))
            const { menu } = state
            if (menu) {
              expect(menu.chosen).toBeLessThan(menu.choices.length)
              expect(menu.to).toBeLessThanOrEqual(text.length)
              expect(menu.from).toBeLessThanOrEqual(menu.to)
            }
          }
        },
      ),
      { numRuns: 1500 },
    )
  })
})

/** What keys come to: the wishes, and the input after them. */
function play(typed: string, { history = [] as string[], busy = false, ms = 100 } = {}) {
  let state: InputState = inputOf(history)
  const wishes: Wish[] = []
  let now = 0
  for (const key of keysOf(typed)) {
    now += ms
    const after = pressed(state, key, { columns: COLUMNS, busy, now })
    state = after.state
    if (after.wish) wishes.push(after.wish)
  }
  return { wishes, input: seen(state.editor), state }
}

describe('the input', () => {
  it('is said on Enter, and empty after it; blanks are not said', () => {
    expect(play('  hello <enter>')).toMatchObject({ wishes: [{ kind: 'said', text: '  hello ' }], input: '|' })
    expect(play('  <enter>')).toMatchObject({ wishes: [], input: '|' })
    expect(play('one<enter>two<enter><up><up>')).toMatchObject({ input: 'one|' })
    expect(play('one<enter>one<enter><up><up>', { history: ['zero'] })).toMatchObject({ input: 'zero|' })
  })

  it('goes on with the next line after a backslash, unless there are two', () => {
    expect(play('one\\<enter>two<enter>').wishes).toEqual([{ kind: 'said', text: 'one\ntwo' }])
    expect(play('one\\\\<enter>').wishes).toEqual([{ kind: 'said', text: 'one\\\\' }])
  })

  it('interrupts on Esc while an answer is under way, and keeps what was typed; Ctrl-C does not', () => {
    expect(play('wait<escape>', { busy: true })).toMatchObject({ wishes: [{ kind: 'interrupt' }], input: 'wait|' })
    expect(play('wait<ctrl-c><ctrl-c>', { busy: true })).toMatchObject({ wishes: [], input: '|' })
    expect(play('wait<escape>')).toMatchObject({ wishes: [], input: 'wait|' })
  })

  it('is left by Ctrl-C twice, soon enough and on nothing, or Ctrl-D', () => {
    const leave = { kind: 'leave' }
    expect(play('<ctrl-c><ctrl-c>').wishes).toEqual([leave])
    expect(play('<ctrl-c><ctrl-c>', { busy: true }).wishes).toEqual([leave])
    expect(play('<ctrl-c><ctrl-c>', { ms: 2001 }).wishes).toEqual([])
    expect(play('<ctrl-c>x<backspace><ctrl-c>').wishes).toEqual([])
    expect(play('some<ctrl-c><ctrl-c>')).toMatchObject({ wishes: [], input: '|' })
    expect(play('some<ctrl-c><ctrl-_>')).toMatchObject({ input: 'some|' })
    expect(play('<ctrl-d>').wishes).toEqual([leave])
    expect(play('ab<home><ctrl-d>')).toMatchObject({ wishes: [], input: '|b' })
  })

  it('finds what was said before', () => {
    const history = ['mend the roof', 'look at the gutter', 'mend the door']
    const find = (typed: string) => play(typed, { history }).input
    expect(find('<ctrl-r>MEND')).toBe('mend the door|')
    expect(find('<ctrl-r>mend<ctrl-r>')).toBe('mend the roof|')
    expect(find('<ctrl-r>mend<ctrl-r><ctrl-r>')).toBe('mend the roof|')
    expect(find('draft<ctrl-r>gut<escape>')).toBe('draft|')
    expect(find('draft<ctrl-r>gut<ctrl-c>')).toBe('draft|')
    expect(find('draft<ctrl-r>nowhere<enter>')).toBe('draft|')
    expect(find('draft<ctrl-r>gut<enter>!')).toBe('look at the gutter!|')
    expect(find('draft<ctrl-r>gut<enter><down><down>')).toBe('draft|')
    expect(find('<ctrl-r>mendx<backspace>')).toBe('mend the door|')
    expect(play('<ctrl-r>gut<enter>', { history }).wishes).toEqual([])
  })
})
