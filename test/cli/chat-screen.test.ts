import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CTRL_C, DOWN, ENTER, openTerminal, type TerminalOptions } from '../support/terminal.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// Below node_modules, so that packages, which are not bundled, are found from there.
const BUILT = `${ROOT}/node_modules/.cache/retinue/chat-screen-${process.pid}`
const PROGRAM = `${BUILT}/chat-screen-program.mjs`

beforeAll(async () => {
  await build({
    ...{ entryPoints: [`${ROOT}/test/cli/chat-screen-program.ts`], outdir: BUILT, outExtension: { '.js': '.mjs' } },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20', splitting: true },
  })
})
afterAll(() => rmSync(BUILT, { recursive: true, force: true }))

const ESC = '\u001b'
const UP = `${ESC}[A`
const TAB = '\t'
const CTRL_D = '\u0004'
const paste = (text: string) => `${ESC}[200~${text}${ESC}[201~`

const IDLE = 'Enter sends · Alt-Enter new line · Tab completes'
const MENU = 'Tab next · Enter takes it · Esc closes'
const BUSY = 'Esc interrupts'
const AGAIN = 'Ctrl-C again leaves'

/** The input as it stands at the bottom, 60 columns wide. */
const box = (lines: string[], hint = IDLE, menu: string[] = [], columns = 60) => [
  '─'.repeat(columns - 1),
  ...lines.map((line, i) => `${i === 0 ? '>' : ' '} ${line}`.trimEnd()),
  '─'.repeat(columns - 1),
  ...menu,
  `test${hint.padStart(columns - 1 - 'test'.length)}`,
]

type Terminal = ReturnType<typeof openTerminal>

/** The whole of what is in sight; the cursor behind a text is a blank. */
const shows = (terminal: Terminal, lines: string[]) =>
  expect.poll(() => trimmed(terminal.visible()), { timeout: 100_000 }).toEqual(lines)
const trimmed = (lines: string[]) =>
  lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
    .split('\n')

async function open(options: TerminalOptions = {}): Promise<Terminal> {
  const terminal = openTerminal([], ROOT, { program: PROGRAM, cols: 60, rows: 20, ...options })
  await terminal.shows('test')
  return terminal
}

async function leaves(terminal: Terminal): Promise<void> {
  terminal.type(CTRL_D)
  expect(await terminal.ended).toBe(0)
  await expect.poll(() => terminal.screen().split('\n').at(-1), { timeout: 100_000 }).toBe('left')
  expectInOrder(terminal)
}

/** The terminal as its next user knows it. */
function expectInOrder(terminal: Terminal): void {
  expect(terminal.cursorShown()).toBe(true)
  const written = terminal.written()
  expect(written.lastIndexOf(`${ESC}[?2004l`)).toBeGreaterThan(written.lastIndexOf(`${ESC}[?2004h`))
}

describe('the screen of the chat', () => {
  it('takes what is typed, over several lines, with wide characters', async () => {
    const terminal = await open()
    await shows(terminal, box(['']))
    expect(terminal.cursorShown()).toBe(false)
    terminal.type('Hello 你好')
    await shows(terminal, box(['Hello 你好']))
    terminal.type(`\u007f\u007f👩${ESC}\rsecond\\${ENTER}third`)
    await shows(terminal, box(['Hello 👩', 'second', 'third']))
    // Shift-Enter, as terminals send it that can.
    terminal.type(`${ESC}[13;2u4${ENTER}`)
    const said = ['> Hello 👩', '  second', '  third', '  4', '"Hello 👩\\nsecond\\nthird\\n4"']
    await shows(terminal, [...said, ...box([''])])
    await leaves(terminal)
    expect(terminal.screen().split('\n')).toEqual([...said, 'left'])
  })

  it('wraps what is too long, and scrolls what is too high', async () => {
    const terminal = await open()
    terminal.type('x'.repeat(60))
    await shows(terminal, box(['x'.repeat(56), 'xxxx']))
    terminal.type(`\u0015${paste(Array.from({ length: 12 }, (_, i) => `line ${i}`).join('\r'))}`)
    const [, ...lower] = box(['', 'line 6', 'line 7', 'line 8', 'line 9', 'line 10', 'line 11'])
    await shows(terminal, [`── ↑ 6 more ${'─'.repeat(47)}`, ...lower.slice(1)])
    await emptiesAndLeaves(terminal)
  })

  it('takes a paste for text, whatever is in it', async () => {
    const terminal = await open()
    terminal.type(paste(`one\r\ntwo\u0003\u0004\r${ESC}[2Jthree`))
    await shows(terminal, box(['one', 'two', '[2Jthree']))
    terminal.type(ENTER)
    await terminal.shows('"one\\ntwo\\n[2Jthree"')
    await leaves(terminal)
  })

  it('completes, from a menu where there are several', async () => {
    const terminal = await open()
    terminal.type(`/a${TAB}`)
    await shows(terminal, box(['/a'], MENU, ['  /agents  who there is', '  /await   waits for a task']))
    terminal.type('g')
    await shows(terminal, box(['/ag'], MENU, ['  /agents  who there is']))
    terminal.type(`${ENTER}${TAB}`)
    await shows(terminal, box(['/agents'], MENU, ['  pin', '  show']))
    terminal.type(`${DOWN}${ENTER}@wr${TAB}no${TAB}`)
    await shows(terminal, box(['/agents show @writer notes.md']))
    terminal.type(ENTER)
    await terminal.shows('"/agents show @writer notes.md "')
    terminal.type(`/a${TAB}`)
    await terminal.shows(MENU)
    terminal.type(ESC)
    await shows(terminal, [...['> /agents show @writer notes.md', '"/agents show @writer notes.md "'], ...box(['/a'])])
    await emptiesAndLeaves(terminal)
  })

  it('remembers what was said', async () => {
    const terminal = await open()
    terminal.type(`draft${UP}`)
    await shows(terminal, box(['said', 'before']))
    terminal.type(UP + UP)
    await shows(terminal, box(['an older one']))
    terminal.type(DOWN + DOWN + DOWN)
    await shows(terminal, box(['draft']))
    terminal.type('\u0012old')
    await shows(terminal, [
      ...box(['an older one']).slice(0, -1),
      'search: old · Enter takes it, Ctrl-R goes on, Esc gives up',
    ])
    terminal.type(ENTER + ENTER)
    await terminal.shows('"an older one"')
    await leaves(terminal)
  })

  it('is drawn anew when the terminal has another size', async () => {
    const terminal = await open()
    terminal.type(`first${ENTER}`)
    await terminal.shows('"first"')
    terminal.type('some words that are longer than the other screen is')
    await shows(terminal, ['> first', '"first"', ...box(['some words that are longer than the other screen is'])])
    terminal.resize(30, 20)
    const hint = 'test  Enter sends · Alt-Ente…'
    const wrapped = ['some words that are longer', ' than the other screen is']
    await shows(terminal, ['> first', '"first"', ...box(wrapped, '', [], 30).slice(0, -1), hint])
    terminal.resize(80, 12)
    await shows(terminal, [
      ...['> first', '"first"'],
      ...box(['some words that are longer than the other screen is'], IDLE, [], 80),
    ])
    await emptiesAndLeaves(terminal)
  })

  it('works in 20 columns and few rows', async () => {
    const terminal = await open({ cols: 20, rows: 6 })
    terminal.type(`/a${TAB}`)
    await shows(terminal, ['> /a', '  /agents  who the…', '  /await   waits f…', 'test  Tab next · E…'])
    terminal.type(ESC)
    await shows(terminal, ['> /a', 'test  Enter sends …'])
    terminal.type(`\u0015${'y'.repeat(40)}`)
    await shows(terminal, ['  yyyyyyyyyyyyyyyy', '  yyyyyyyy', 'test  Enter sends …'])
    await emptiesAndLeaves(terminal)
  })

  it('is typed into while words stream by, and nothing is torn', async () => {
    const terminal = await open()
    terminal.type(`stream${ENTER}`)
    const said = ['> stream', '"stream"']
    const status = 'at work in 60 columns'
    await shows(terminal, [...said, 'one', status, ...box([''], BUSY)])
    terminal.signal('SIGUSR2')
    for (const letter of 'typed meanwhile') terminal.type(letter)
    const words = `one ${Array.from({ length: 40 }, (_, i) => `two${i}`).join(' ')} `
    const unfinished = words.match(/.{1,59}/g)?.map((line) => line.trimEnd()) ?? []
    await shows(terminal, [...said, ...unfinished, status, ...box(['typed meanwhile'], BUSY)])
    terminal.signal('SIGUSR2')
    // A line that is complete is the terminal's own, which has a column more.
    const complete = `${words}end`.match(/.{1,60}/g)?.map((line) => line.trimEnd()) ?? []
    await shows(terminal, [...said, ...complete, 'last line', ...box(['typed meanwhile'])])
    await emptiesAndLeaves(terminal)
  })

  it('has a run on it, with its tree above the input', async () => {
    const terminal = await open({ cols: 80 })
    terminal.type(`tree${ENTER}`)
    await terminal.shows('1 sub-agent: 1 at work')
    terminal.type('and I type')
    const [rule = '', text = '', , hint = ''] = box(['and I type'], IDLE, [], 80)
    const told = ['> tree', '"tree"', '↳ a1 Task of a1 (p/m)']
    const tree = [expect.stringMatching(/^● root Mend the roof /), expect.stringMatching(/^└ ● a1 Task of a1 /)]
    const total = expect.stringMatching(/^1 sub-agent: 1 at work · /)
    await shows(terminal, [...told, 'half a sen', ...tree, total, rule, text, rule, hint])
    terminal.signal('SIGUSR2')
    await shows(terminal, [...told, 'half a sentence.', 'Shall I?'])
    expectInOrder(terminal)
    terminal.signal('SIGUSR2')
    const done = [
      ...[expect.stringMatching(/^● root Mend the roof /), expect.stringMatching(/^└ ✓ a1 Task of a1 /)],
      expect.stringMatching(/^1 sub-agent: 1 done · /),
    ]
    const answered = [...told, 'half a sentence.', 'Shall I?', expect.stringMatching(/^✓ a1 completed/)]
    await shows(terminal, [...answered, ...done, rule, text, rule, hint])
    // The tree as it was last stays above; it has no place at the bottom any more.
    terminal.signal('SIGUSR2')
    terminal.type('!')
    await shows(terminal, [...answered, ...done, rule, `${text}!`, rule, hint])
    await emptiesAndLeaves(terminal)
    expect(trimmed(terminal.screen().split('\n'))).toEqual([...answered, ...done, 'left'])
  })

  it('interrupts on Esc while an answer is under way', async () => {
    const terminal = await open()
    terminal.type(`busy${ENTER}`)
    await shows(terminal, ['> busy', '"busy"', ...box([''], BUSY)])
    terminal.type(`next${ESC}`)
    await shows(terminal, ['> busy', '"busy"', 'interrupted', ...box(['next'])])
    await emptiesAndLeaves(terminal)
  })

  it('is left by Ctrl-C twice, and says so after the first', async () => {
    const terminal = await open()
    terminal.type(`gone${CTRL_C}`)
    await shows(terminal, box(['']))
    terminal.type(CTRL_C)
    // The hint goes again when it is too late; a machine that is busy may see both at once.
    await expect.poll(terminal.written, { timeout: 100_000 }).toContain(AGAIN)
    await shows(terminal, box(['']))
    terminal.type(CTRL_C + CTRL_C)
    expect(await terminal.ended).toBe(0)
    await shows(terminal, ['left'])
    expectInOrder(terminal)
  })

  it('leaves the keyboard to a question, and shows what was written meanwhile after it', async () => {
    const terminal = await open()
    terminal.type(`ask${ENTER}`)
    await shows(terminal, ['> ask', '"ask"', 'Shall I?'])
    expectInOrder(terminal)
    terminal.type('y')
    await shows(terminal, ['> ask', '"ask"', 'Shall I? "y"', 'written meanwhile', ...box([''])])
    terminal.type(`ask${ENTER}`)
    const asked = ['> ask', '"ask"', 'Shall I? "y"', 'written meanwhile', '> ask', '"ask"']
    await shows(terminal, [...asked, 'Shall I?'])
    // A key that stands for a signal is for those who listen, not for the screen.
    terminal.type(CTRL_C)
    await shows(terminal, [...asked, 'Shall I? "\\u0003"', 'a signal', 'written meanwhile', ...box([''])])
    await leaves(terminal)
  })

  it('has the keyboard again after a prompt, with what was typed before it', async () => {
    const terminal = await open()
    for (const [before, time] of ['once', 'twice'].entries()) {
      terminal.type(`prompt${ENTER}half `)
      await terminal.until(
        () => terminal.screen().split('Why?').length > before + 1,
        () => 'the question',
      )
      terminal.type(`${time}${ENTER}`)
      await terminal.shows(`answered ${time}`)
      terminal.type(`${time}é${ESC}[D!${ENTER}`)
      await terminal.shows(`"half ${time}!é"`)
    }
    await leaves(terminal)
  })

  it('is cleared by Ctrl-L', async () => {
    const terminal = await open()
    terminal.type(`gone${ENTER}`)
    await terminal.shows('"gone"')
    terminal.type('here\u000c')
    await shows(terminal, box(['here']))
    await emptiesAndLeaves(terminal)
  })

  it('tells a terminal that can to tell more keys apart, and not to any more at the end', async () => {
    const terminal = await open()
    expect(terminal.written()).toContain(`${ESC}[?u`)
    expect(terminal.written()).not.toContain(`${ESC}[>1u`)
    terminal.type(`${ESC}[?0u`)
    await expect.poll(terminal.written, { timeout: 100_000 }).toContain(`${ESC}[>1u`)
    await leaves(terminal)
    expect(terminal.written()).toContain(`${ESC}[<u`)
  })

  it('shows the cursor without colours', async () => {
    const terminal = await open({ env: { NO_COLOR: '1' } })
    terminal.type('ab\u0002')
    await expect.poll(terminal.written, { timeout: 100_000 }).toContain(`> a${ESC}[7mb${ESC}[27m`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    const codes = new Set(terminal.written().match(/\u001b\[[\d;]*m/g))
    expect(codes).toEqual(new Set([`${ESC}[7m`, `${ESC}[27m`]))
  })

  it('is suspended by Ctrl-Z and comes back as it was', async () => {
    const terminal = await open()
    terminal.type('half')
    await shows(terminal, box(['half']))
    terminal.type('\u001a')
    await stopped(terminal.pid)
    await shows(terminal, [''])
    expectInOrder(terminal)
    expect(raw(terminal)).toBe(false)
    terminal.signal('SIGCONT')
    await shows(terminal, box(['half']))
    expect(raw(terminal)).toBe(true)
    terminal.type(` done${ENTER}`)
    await terminal.shows('"half done"')
    await leaves(terminal)
  })

  it('gives the terminal back in order whatever ends the process', async () => {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
      const terminal = await open()
      terminal.type('half')
      await shows(terminal, box(['half']))
      terminal.signal(signal)
      await terminal.ended
      await shows(terminal, [''])
      expectInOrder(terminal)
    }
    const crashed = await open()
    crashed.type(`crash${ENTER}`)
    await crashed.shows('the roof fell in')
    expect(await crashed.ended).toBe(1)
    expectInOrder(crashed)
  })
})

describe('without a terminal', () => {
  it('takes a line for one input, each after the answer to the one before, and leaves at the end', () => {
    const { stdout } = spawnSync(process.execPath, [PROGRAM], {
      input: 'one\r\n\nlater\ntwo 你\nlater',
      encoding: 'utf8',
    })
    expect(stdout).toBe('> one\n"one"\n> later\n"later"\ndone\n> two 你\n"two 你"\n> later\n"later"\ndone\nleft\n')
  })
})

/** Empties the input first. */
async function emptiesAndLeaves(terminal: Terminal): Promise<void> {
  terminal.type(CTRL_C)
  await leaves(terminal)
}

/** Resolves when the process has been stopped, as by Ctrl-Z. Nothing tells of it but its state. */
async function stopped(pid: number): Promise<void> {
  while (!execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T')) await sleep(20)
}

/** Whether the terminal hands over every key at once. */
function raw({ pid }: Terminal): boolean {
  const tty = execFileSync('ps', ['-o', 'tty=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  return execFileSync('stty', ['-F', `/dev/${tty}`, '-a'], { encoding: 'utf8' }).includes('-icanon')
}
