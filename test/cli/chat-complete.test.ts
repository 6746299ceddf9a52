import { describe, expect, it } from 'vitest'
import { createCompleter } from '../../src/cli/chat/complete.js'
import { completed, type InputState, inputOf, pressed } from '../../src/cli/chat/editor-input.js'
import { inputLines } from '../../src/cli/chat/picture.js'
import { paintFor } from '../../src/cli/style.js'
import { widthOf } from '../../src/cli/tree/width.js'

const FILES = ['src/', 'src/main.ts', 'src/main.test.ts', 'README.md', 'researcher.md', 'evil\u001b[2J.md', 'evil.md']
const asked: string[] = []
const complete = createCompleter({
  commands: () => [
    {
      name: '/agents',
      usage: '/agents [show|pin]',
      options: ['--json'],
      subcommands: [
        { name: 'show', usage: '/agents show <name>' },
        { name: 'pin', options: ['--session', '--user'], values: async () => [{ name: 'writer', note: 'writes' }] },
      ],
    },
    { name: 'await', note: 'waits for a task' },
    { name: '/model', values: async () => Promise.reject(new Error('no provider')) },
  ],
  handles: async () => [
    { name: '@researcher', note: 'looks things up' },
    { name: 'reviewer', note: 'looks at changes' },
  ],
  files: async (prefix) => {
    asked.push(prefix)
    return FILES.filter((name) => name.startsWith(prefix) && !name.slice(prefix.length, -1).includes('/'))
  },
})

/** Completes where the bar is. */
async function at(marked: string) {
  const cursor = marked.indexOf('|')
  const { from, to, choices } = await complete(marked.replace('|', ''), cursor)
  return { word: marked.replace('|', '').slice(from, to), choices: choices.map(({ text }) => text) }
}

describe('the completer', () => {
  it('offers commands at the beginning, then what belongs to them', async () => {
    expect(await at('|')).toEqual({ word: '', choices: ['/agents ', '/await ', '/model '] })
    expect(await at('/A|')).toEqual({ word: '/A', choices: ['/agents ', '/await '] })
    expect(await at('/agents |')).toEqual({ word: '', choices: ['show ', 'pin '] })
    expect(await at('/agents p|')).toEqual({ word: 'p', choices: ['pin '] })
    expect(await at('/agents pin |')).toEqual({ word: '', choices: ['writer '] })
    expect(await at('/agents pin writer --|')).toEqual({ word: '--', choices: ['--session ', '--user ', '--json '] })
    expect(await at('/agents pin --session writer --|')).toEqual({ word: '--', choices: ['--user ', '--json '] })
    expect((await complete('/ag', 3)).choices).toEqual([{ text: '/agents ', note: '/agents [show|pin]' }])
  })

  it('offers handles wherever a word begins with @, and files after them', async () => {
    expect(await at('ask @re|')).toEqual({ word: '@re', choices: ['@researcher ', '@reviewer ', '@researcher.md '] })
    expect(await at('/agents pin @rev|')).toEqual({ word: '@rev', choices: ['@reviewer '] })
    expect(await at('mail me@re|')).toEqual({ word: 'me@re', choices: [] })
  })

  it('offers paths, and what comes after the cursor stays', async () => {
    expect(await at('look at sr|')).toEqual({ word: 'sr', choices: ['src/'] })
    expect(await at('@src/|')).toMatchObject({ choices: ['@src/', '@src/main.ts ', '@src/main.test.ts '] })
    expect(await at('./READ|')).toEqual({ word: './READ', choices: ['./README.md '] })
    expect(asked.at(-1)).toBe('READ')
    expect(await at('/await RE|x')).toEqual({ word: 'RE', choices: ['README.md '] })
    expect(await at('nothing |')).toEqual({ word: '', choices: [] })
  })

  it('offers nothing where it cannot find out', async () => {
    expect(await at('/model |')).toEqual({ word: '', choices: [] })
  })
})

const press = (state: InputState, name: string): InputState =>
  pressed(state, { kind: 'key', name }, { columns: 40, busy: false, now: 0 }).state
const type = (state: InputState, text: string): InputState =>
  pressed(state, { kind: 'text', text }, { columns: 40, busy: false, now: 0 }).state

/** Tab, or whatever has changed the word, and the answer of the completer. */
async function tab(state: InputState): Promise<InputState> {
  return completed(state, await complete(state.editor.text, state.editor.cursor))
}
const wordsOf = ({ menu }: InputState) => menu?.choices.map(({ text }) => text)

describe('the menu', () => {
  it('takes the only choice, and of several as much as they share', async () => {
    const only = await tab(type(inputOf([]), '/ag'))
    expect(only).toMatchObject({ editor: { text: '/agents ' }, menu: null })
    const several = await tab(type(inputOf([]), 'see @r'))
    expect(several.editor.text).toBe('see @re')
    expect(several.menu).toMatchObject({ from: 4, to: 7, chosen: 0 })
    expect((await tab(type(inputOf([]), 'zzz'))).menu).toBe(null)
  })

  it('is walked through in both directions, and Enter takes what is chosen', async () => {
    const open = await tab(type(inputOf([]), 'see @re'))
    expect(press(press(open, 'tab'), 'enter')).toMatchObject({ editor: { text: 'see @reviewer ' }, menu: null })
    expect(press(press(open, 'shift-tab'), 'enter').editor.text).toBe('see @researcher.md ')
    expect(press(press(press(open, 'down'), 'up'), 'enter').editor.text).toBe('see @researcher ')
    expect(press(open, 'escape')).toMatchObject({ editor: { text: 'see @re' }, menu: null })
    expect(press(press(press(open, 'tab'), 'enter'), 'ctrl-_').editor.text).toBe('see @re')
  })

  it('follows what is typed, and goes when the person goes elsewhere', async () => {
    const open = await tab(type(inputOf([]), '@re'))
    const narrower = await tab(type(open, 's'))
    expect(wordsOf(narrower)).toEqual(['@researcher ', '@researcher.md '])
    expect(press(narrower, 'enter').editor.text).toBe('@researcher ')
    expect((await tab(type(open, 'x'))).menu).toBe(null)
    expect(press(open, 'left').menu).toBe(null)
  })

  it('takes the last one that is left on Tab', async () => {
    const open = await tab(type(await tab(type(inputOf([]), '@re')), 'v'))
    expect(wordsOf(open)).toEqual(['@reviewer '])
    expect(press(open, 'tab')).toMatchObject({ editor: { text: '@reviewer ' }, menu: null })
  })

  it('shares whole characters', () => {
    const choices = ['@👩‍👧 ', '@👩‍👦 ', '@👩‍👦 x'].map((text) => ({ text }))
    const open = completed(type(inputOf([]), '@'), { from: 0, to: 1, choices })
    expect(open.editor).toMatchObject({ text: '@', cursor: 1 })
    const shared = completed(type(inputOf([]), '@'), { from: 0, to: 1, choices: choices.slice(1) })
    expect(shared.editor.text).toBe('@👩‍👦 ')
  })

  it('offers nothing that a terminal would act on', async () => {
    expect(await at('ev|')).toMatchObject({ choices: ['evil\u001b[2J.md ', 'evil.md '] })
    expect(await tab(type(inputOf([]), 'ev'))).toMatchObject({ editor: { text: 'evil.md ' }, menu: null })
  })
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are taken out
const bare = (line: string) => line.replace(/\u001b\[7m(.*?)\u001b\[27m/g, '[$1]').replace(/\u001b\[\d+m/g, '')
const paint = paintFor({ isTTY: true }, { NO_COLOR: '1' })

describe('the picture', () => {
  const draw = (state: InputState, columns: number, rows: number, label = 'scripted/s.yaml · normal') =>
    inputLines(state, { columns, rows }, { busy: false, label, paint }).map(bare)

  it('has the text, the choices and the hints', async () => {
    const open = await tab(type(inputOf([]), '@re'))
    expect(draw(press(open, 'tab'), 60, 24)).toEqual([
      '─'.repeat(59),
      '> @re[ ]',
      '─'.repeat(59),
      '  @researcher     looks things up',
      '  [@reviewer]       looks at changes',
      '  @researcher.md',
      'scripted/s.yaml · normal  Tab next · Enter takes it · Esc …',
    ])
    expect(draw(inputOf([]), 24, 24).at(-1)).toBe('scripted/s.yaml · norm…')
    expect(draw(press(inputOf([]), 'ctrl-c'), 24, 24).at(-1)).toBe('Ctrl-C again leaves')
  })

  it('shows the part of a long text that the cursor is in', () => {
    const text = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')
    const pasted = pressed(inputOf([]), { kind: 'paste', text }, { columns: 40, busy: false, now: 0 }).state
    expect(draw(pasted, 40, 12)).toEqual([
      `── ↑ 16 more ${'─'.repeat(26)}`,
      ...['  line 16', '  line 17', '  line 18', '  line 19[ ]'],
      '─'.repeat(39),
      expect.any(String),
    ])
    const up = Array.from({ length: 10 }).reduce<InputState>((state) => press(state, 'up'), pasted)
    expect(draw(up, 40, 12).slice(0, 6)).toEqual([
      `── ↑ 7 more ${'─'.repeat(27)}`,
      ...['  line 7', '  line 8', '  line 9[ ]', '  line 10'],
      `── ↓ 9 more ${'─'.repeat(27)}`,
    ])
  })

  it('fits every screen', async () => {
    const states = [
      inputOf([]),
      await tab(type(inputOf([]), '@re')),
      await tab(type(inputOf([]), '')),
      type(press(type(inputOf(['你好 before']), 'draft'), 'ctrl-r'), '好'),
      type(inputOf([]), 'wide 你好吗 👩‍👧 '.repeat(30)),
      type(inputOf([]), '\t\u202eabc'.repeat(9)),
      press(inputOf([]), 'ctrl-c'),
    ]
    for (const state of states) {
      for (const columns of [2, 3, 5, 8, 20, 33, 80]) {
        for (const rows of [1, 2, 3, 5, 9, 10, 24]) {
          const lines = draw(state, columns, rows)
          expect(lines.length).toBeLessThanOrEqual(rows)
          if (columns < 8) continue
          for (const line of lines) expect(widthOf(line.replace(/[[\]]/g, ''))).toBeLessThan(columns)
        }
      }
    }
  })
})
