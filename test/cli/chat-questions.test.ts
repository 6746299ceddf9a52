import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Terminal as Picture } from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { addressed } from '../../src/cli/chat/handles.js'
import { LiveScreen } from '../../src/cli/tree/screen.js'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { CTRL_C, DOWN, ENTER, openTerminal } from '../support/terminal.js'
import { withTree } from '../support/tree-work.js'

const ESC = '\u001b'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
const UP = '\u001b[A'
const pasted = (text: string) => `\u001b[200~${text}\u001b[201~`

const SCRIPT = `agents:
  root:
    - &turn
      branches:
        - when: { contains: "Write a note late" }
          steps: [{ delay_ms: 1500, calls: [{ write_file: { path: note.txt, content: "hello\\n" } }] }, { text: "Went on." }]
        - when: { contains: "Write a note" }
          steps: [{ calls: [{ write_file: { path: note.txt, content: "hello\\n" } }] }, { text: "Went on." }]
        - when: { contains: "Ask freely" }
          steps: [{ calls: [{ ask_user: { question: "Which colour?" } }] }, { text: "Thank you." }]
        - when: { contains: "Ask me" }
          steps:
            - calls: [{ ask_user: { question: "Which colour?", options: ["red", "blue"] } }]
            - text: "Thank you."
        - when: { contains: "Wait long" }
          steps: [{ text: "I begin.", calls: [{ list_dir: {} }] }, { delay_ms: 60000, text: "Late." }]
        - steps: [{ text: "Hello from the root." }]
    - *turn
    - *turn
    - *turn
  "a*":
    - branches:
        - when: { contains: "Wait long" }
          steps: [{ calls: [{ list_dir: {} }] }, { delay_ms: 60000, text: "Late." }]
        - steps:
            - calls: [{ write_file: { path: note.txt, content: "x" } }]
            - text: "Words of the sub-agent."
`

const project = (files: Record<string, string> = {}) => makeProject({ 's.yaml': SCRIPT, ...files })

const chat = (cwd: string, args: string[] = [], env: Record<string, string> = { NO_COLOR: '1' }) =>
  openTerminal(['chat', '--model', 'scripted/s.yaml', ...args], cwd, { env, cols: 100, rows: 40 })

type Terminal = ReturnType<typeof chat>

/** Resolves when what is typed has arrived, and so has all that it brought about by then: there is no line to wait for. */
const ignored = (terminal: Terminal) =>
  terminal.until(
    () => terminal.visible().some((line) => line.startsWith('What is typed here answers nothing')),
    () => 'that it answers nothing',
  )

async function begun(cwd: string, said: string): Promise<Terminal> {
  const terminal = chat(cwd)
  await terminal.shows('/help shows the commands')
  terminal.type(`${said}${ENTER}`)
  return terminal
}

async function answers(cwd: string): Promise<unknown[]> {
  const logs = await withTree(cwd, async (known) =>
    Promise.all((await known.runs()).map(({ run_id }) => known.events(run_id))),
  )
  return logs.flat().flatMap((event) => (event.type === 'permission.answered' ? [event.data.answer] : []))
}

describe('a question in the chat', () => {
  it('is answered by no text that was meant for the input, and by Enter alone with no', async () => {
    const cwd = project()
    const terminal = await begun(cwd, '/spawn Write a note')
    await terminal.asks()
    expect(terminal.visible().find((line) => line.startsWith('❯'))).toBe('❯ 1 No')
    for (const key of `just a joke${ENTER}`) terminal.type(key)
    await ignored(terminal)
    await terminal.asks()
    // What is chosen is forgotten as soon as somebody writes.
    terminal.type('3')
    await terminal.shows('❯ 3 Yes, this once')
    terminal.type(` of them${ENTER}`)
    await ignored(terminal)
    await terminal.asks()
    expect(terminal.visible().find((line) => line.startsWith('❯'))).toBe('❯ 1 No')
    terminal.type(pasted('yes\ny\n3\n'))
    await ignored(terminal)
    await terminal.asks()
    // As a terminal sends it that does not mark what is pasted.
    terminal.type(`3${ENTER}`)
    await ignored(terminal)
    await terminal.asks()
    expect(await answers(cwd)).toEqual([])
    // As somebody presses it who wants back what they said before.
    terminal.type(`${UP}${ENTER}`)
    await terminal.shows('  → No')
    await terminal.shows('✓ t1 completed: Went on.')
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
    expect(await answers(cwd)).toEqual(['deny'])
    terminal.type(CTRL_D)
    expect(await terminal.ended).toBe(0)
  }, 120_000)

  it('is answered with yes by arrow keys or by its number, and then Enter', async () => {
    const cwd = project()
    const terminal = await begun(cwd, '/spawn Write a note')
    await terminal.asks()
    terminal.type('3')
    await terminal.shows('❯ 3 Yes, this once')
    // As a person does: an Enter right behind the digit would be taken for something pasted.
    await new Promise((resolve) => setTimeout(resolve, 100))
    terminal.type(ENTER)
    await terminal.shows('✓ t1 completed: Went on.')
    expect(terminal.screen()).toContain('? t1 write_file: create note.txt')
    expect(terminal.screen()).toContain('  → Yes, this once')
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello\n')
    terminal.type(`Write a note${ENTER}`)
    await terminal.asks()
    terminal.type(DOWN + DOWN + DOWN + DOWN + DOWN + ENTER)
    await terminal.shows('→ Yes, and every write_file for the rest of this run')
    await terminal.shows('completed ·')
    terminal.type(CTRL_D)
    expect(await terminal.ended).toBe(0)
    expect((await answers(cwd)).sort()).toEqual(['allow', 'allow'])
  }, 120_000)

  it('waits while something stands in the input, and says who waits', async () => {
    const terminal = await begun(project(), '/spawn Write a note late')
    await terminal.shows('t1 works in the background')
    terminal.type('half a sentence')
    await terminal.shows('t1 waits for your yes or no')
    terminal.type(' and more')
    await terminal.shows('half a sentence and more')
    // Longer than anybody has to be quiet for it.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect(terminal.screen()).not.toContain('Yes, this once')
    terminal.type(CTRL_U)
    await terminal.asks()
    terminal.type(ESC)
    await terminal.shows('  → No')
    await terminal.shows('✓ t1 completed')
    expect(terminal.visible().join('\n')).not.toContain('waits for your yes or no')
  }, 120_000)

  it.each([
    ['/spawn Write a note', 'Ctrl-C twice', [CTRL_C, CTRL_C]],
    ['/spawn Write a note', 'Ctrl-D', [CTRL_D]],
    ['Write a note', 'Ctrl-C twice', [CTRL_C, CTRL_C]],
  ])(
    '%j stays open when the chat is left by %s, and is asked again',
    async (said, _, keys) => {
      const cwd = project()
      const terminal = await begun(cwd, said)
      await terminal.asks()
      for (const [i, key] of keys.entries()) {
        if (i > 0) await terminal.shows('Ctrl-C again leaves')
        terminal.type(key)
      }
      expect(await terminal.ended).toBe(130)
      expect(terminal.screen()).toContain('  → not answered')
      expect(terminal.screen()).toContain('go on with: retinue resume')
      expect(terminal.cursorShown()).toBe(true)
      expect(await answers(cwd)).toEqual([])

      const again = chat(cwd, ['-c'])
      await again.shows('was interrupted')
      again.type(`/resume${said.startsWith('/') ? ' t1' : ''}${ENTER}`)
      await again.asks()
      again.type(ESC)
      await again.shows('  → No')
      await again.shows(said.startsWith('/') ? '✓ t1 completed' : 'completed ·')
      expect(await answers(cwd)).toEqual(['deny'])
    },
    120_000,
  )

  it('of an agent has no answer before one is chosen, and takes a text that is pasted as a whole', async () => {
    const cwd = project()
    const terminal = await begun(cwd, 'Ask me')
    await terminal.shows('Esc answers nothing')
    terminal.type(ENTER)
    terminal.type(DOWN + DOWN)
    await terminal.shows('❯ 2 blue')
    terminal.type(ENTER)
    await terminal.shows('  → blue')
    await terminal.shows('Thank you.')
    terminal.type(`Ask freely${ENTER}`)
    await terminal.shows('Esc says nothing')
    terminal.type(pasted('sea\ngreen'))
    await terminal.shows('  green')
    expect(terminal.screen()).not.toContain('→ sea')
    terminal.type(ENTER)
    await terminal.shows('  → sea ⏎ green')
  }, 120_000)
})

describe('a question of a run', () => {
  it('is not answered by what was typed before it was there, and by Enter with no', async () => {
    const cwd = project()
    const terminal = openTerminal(['Write a note', '--model', 'scripted/s.yaml'], cwd)
    terminal.type(`3${ENTER}y${ENTER}3${ENTER}`)
    await terminal.asks()
    expect(await answers(cwd)).toEqual([])
    terminal.type(ENTER)
    await terminal.shows('  → No')
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
  }, 120_000)
})

describe('what is on the screen of a chat', () => {
  it('has no raw codes where there are colours', async () => {
    const cwd = project()
    const terminal = chat(cwd, [], {})
    await terminal.shows('/help shows the commands')
    const done = async (said: string, shown: string) => {
      terminal.type(`${said}${ENTER}`)
      await terminal.shows(shown)
    }
    await done('Good morning', 'completed · 1 turn')
    await done('/spawn Good evening', '✓ t1 completed')
    await done('/runs', 'Good evening')
    await done('/show', 'agent.started')
    await done('/cost', 'all ')
    await done('/tasks', 't1   completed')
    await done('/await t1', 't1 completed\n')
    await done('/skills', 'No skills here')
    terminal.type(CTRL_D)
    await terminal.ended
    expect(terminal.screen()).not.toMatch(/\[\d+m/)
    expect(terminal.written()).toContain('\u001b[32m')
  }, 120_000)

  it("has the words that came while the terminal was somebody else's, as after Ctrl-Z", async () => {
    const terminal = new Picture({ cols: 60, rows: 10, allowProposedApi: true })
    const write = (text: string) => terminal.write(text.replaceAll('\n', '\r\n'))
    const screen = new LiveScreen({ write, columns: 60, rows: 10, on: () => {}, off: () => {} }, () => ['> '])
    screen.changed()
    screen.write('One. Tw')
    screen.away()
    screen.write('o. Three. Fo')
    screen.back()
    screen.write('ur.')
    screen.close()
    await new Promise<void>((resolve) => terminal.write('', resolve))
    const shown = Array.from({ length: 4 }, (_, i) => terminal.buffer.active.getLine(i)?.translateToString(true))
    expect(shown).toEqual(['One. Tw', 'o. Three. Four.', '', ''])
  })
})

describe('whom a message is for', () => {
  it.each([
    ['@WRITER hi', '@writer'],
    ['@writer: hi', '@writer'],
    ['@Writer, hi', '@writer'],
  ])('%j is for %s', (message, handle) => expect(addressed(message)).toMatchObject({ handle, text: 'hi' }))

  it('is said in any spelling of a name, and nothing is sent where nobody has it', async () => {
    const cwd = project()
    const input = ['@EXECUTOR, write a note', '@nobody: hi', '  /mode', ' /', '  /nothing here'].join('\n')
    const { stdout, stderr } = await retinue(['chat', '--model', 'scripted/s.yaml'], { cwd, input: `${input}\n` })
    expect(stdout).toContain('Words of the sub-agent.')
    expect(stderr).toContain('there is nobody to ask. Sub-agents ask a person where delegation.ask_person is on.')
    expect(stdout).toContain('There is no agent @nobody. ')
    expect(stdout).toContain('Nothing was sent.')
    expect(stdout).toContain('Mode: normal. There are plan, normal, auto, dangerous.')
    expect(stdout).toContain('/agents register')
    const runs = lines((await retinue(['runs', '--json'], { cwd })).stdout) as { task: string }[]
    // What only looks like a command is a message.
    expect(runs.map(({ task }) => task.split('\n', 1)[0])).toEqual(['  /nothing here', 'write a note'])
  }, 120_000)
})

it('says at a terminal that cannot be drawn on what it does without', async () => {
  const terminal = chat(project(), [], { TERM: 'dumb' })
  await terminal.shows('TERM=dumb')
  terminal.type(`/model\n`)
  await terminal.shows('Model: scripted/s.yaml.')
  terminal.type(CTRL_D)
  expect(await terminal.ended).toBe(0)
}, 120_000)

it('says who interrupted an answer, and no more of a hand-out than a person wants to know', async () => {
  const cwd = project({ '.none/retinue/config.yaml': 'delegation: { ask_person: true }\n' })
  const terminal = await begun(cwd, 'Wait long')
  await terminal.shows('I begin.')
  terminal.type(ESC)
  await terminal.shows('cancelled by you: interrupted at the terminal')
  terminal.type(`/resume t9${ENTER}`)
  await terminal.shows('There is no task "t9" in this session. Nothing was begun in the background: /spawn')
  terminal.type(`@executor write${ENTER}`)
  await terminal.asks()
  expect(terminal.screen()).not.toContain('fan_out')
  terminal.type(ESC)
  await terminal.shows('Words of the sub-agent.')
  terminal.type(`@executor Wait long${ENTER}`)
  await terminal.shows('a2 → list_dir')
  terminal.type(ESC)
  await terminal.shows('✗ a2 failed, cancelled')
  expect(terminal.screen()).not.toContain('{"tasks"')
}, 120_000)
