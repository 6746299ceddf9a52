import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeProject } from '../support/project.js'
import { CTRL_C, DOWN, ENTER, openTerminal } from '../support/terminal.js'

const SCRIPT = `agents:
  root:
    - text: "I write it down."
      calls:
        - write_file: { path: note.txt, content: "hello\\n" }
    - branches:
        - when: { contains: "said no" }
          steps:
            - text: "Then I leave it."
        - steps:
            - calls:
                - run_command: { command: "echo one two" }
            - calls:
                - run_command: { command: "echo one three" }
            - text: "All written."
`

const start = (cwd: string, script = 's.yaml') => openTerminal(['Take a note', '--model', `scripted/${script}`], cwd)

describe('at a terminal', () => {
  it('streams the words, asks before it writes, and does it after a yes', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const terminal = start(cwd)
    await terminal.shows('I write it down.')
    await terminal.shows('No, and say why')
    expect(terminal.screen()).toContain('write_file: ')
    expect(terminal.screen()).toContain('│ hello')
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
    terminal.type(ENTER)
    await terminal.shows('run_command: run echo one two')
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello\n')
    // The second answer: yes, and every `echo one …` for the rest of the run.
    await terminal.shows('every `echo one *`')
    await terminal.shows('No, and say why')
    terminal.type(DOWN + ENTER)
    await terminal.shows('completed')
    expect(await terminal.ended).toBe(0)
    const screen = terminal.screen()
    expect(screen.match(/Yes, this once/g)?.length ?? 0).toBeLessThanOrEqual(2)
    expect(screen).toContain('All written.')
    expect(screen).toMatch(/completed · 4 turns · 3 tool calls · .* · retinue show \w+/)
  })

  it('takes a no with a reason, and the agent hears it', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const terminal = start(cwd)
    await terminal.shows('No, and say why')
    terminal.type(DOWN + DOWN + DOWN + ENTER)
    await terminal.shows('Why not, or what instead?')
    terminal.type(`not today${ENTER}`)
    await terminal.shows('Then I leave it.')
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
  })

  it('shows a command whole before it asks, every line of it behind a bar', async () => {
    const command = `echo ${'a'.repeat(300)} ; echo hidden`
    const script = `agents:\n  root:\n    - calls:\n        - run_command: { command: ${JSON.stringify(`${command}\n# second line`)} }\n    - text: Done.\n`
    const terminal = start(makeProject({ 's.yaml': script }))
    await terminal.shows('No, and say why')
    const shown = terminal
      .screen()
      .split('\n')
      .filter((line) => line.startsWith('  │ '))
      .map((line) => line.slice(4))
      .join('')
    expect(shown.replace(/\s/g, '')).toContain(`${command}# second line`.replace(/\s/g, ''))
  })

  it('is cancelled by Ctrl-C while it asks', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const terminal = start(cwd)
    await terminal.shows('Yes, this once')
    terminal.type(CTRL_C)
    await terminal.shows('cancelled')
    expect(await terminal.ended).toBe(130)
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
  })

  it('is cancelled by Ctrl-C while the model thinks', async () => {
    const slow =
      'agents:\n  root:\n    - text: Thinking.\n      calls:\n        - list_dir: {}\n    - text: late\n      delay_ms: 60000\n'
    const cwd = makeProject({ 's.yaml': slow })
    const once = start(cwd)
    await once.shows('list_dir')
    once.type(CTRL_C)
    await once.shows('cancelled')
    expect(await once.ended).toBe(130)
  })
})
