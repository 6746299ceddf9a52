import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeProject } from '../support/project.js'
import { CTRL_C, DOWN, ENTER, openTerminal, YES } from '../support/terminal.js'
import { runOf } from '../support/workspace-work.js'

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
    await terminal.asks()
    expect(terminal.screen()).toContain('write_file: ')
    expect(terminal.screen()).toContain('│ hello')
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
    terminal.type(YES)
    await terminal.shows('run_command: run echo one two')
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello\n')
    // The second answer: yes, and every `echo one …` for the rest of the run.
    await terminal.shows('every `echo one *`')
    await terminal.asks()
    terminal.type(DOWN + DOWN + DOWN + ENTER)
    await terminal.shows('completed')
    expect(await terminal.ended).toBe(0)
    const screen = terminal.screen()
    expect(screen.match(/→ Yes, this once/g)).toHaveLength(1)
    expect(screen).toContain('All written.')
    expect(screen).toMatch(/completed · 4 turns · 3 tool calls · .* · retinue show \w+/)
  })

  it('takes a no with a reason, and the agent hears it', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT })
    const terminal = start(cwd)
    await terminal.asks()
    terminal.type(DOWN + ENTER)
    await terminal.shows('Why not, or what instead?')
    terminal.type(`not today${ENTER}`)
    await terminal.shows('  → No: not today')
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

const DELEGATING = `agents:
  root:
    - text: "Three at once."
      calls:
        - spawn: { task: "Look at the slates" }
        - spawn: { task: "Look at the gutter" }
        - spawn: { task: "Look at the chimney" }
    - calls:
        - write_file: { path: note.txt, content: "hello\\n" }
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: "All looked at."
  "a*":
    - delay_ms: 500
      calls:
        - list_dir: {}
    - delay_ms: 500
      text: "Nothing to see."
`

const LONG = DELEGATING.replaceAll('500', '60000')
const treeOf = (lines: string[]) => lines.filter((line) => /^(● root|[├└] )|^\d+ sub-agents: /.test(line))

describe('a run with sub-agents at a terminal', () => {
  it('shows them as a tree, which makes room for a question and stays at the end', async () => {
    const cwd = makeProject({ 's.yaml': DELEGATING.replace('delay_ms: 500', 'delay_ms: 6000') })
    const terminal = start(cwd)
    await terminal.asks()
    expect(treeOf(terminal.visible())).toEqual([])
    expect(terminal.screen()).toContain('↳ a3 Look at the chimney (scripted/s.yaml)')
    terminal.type(YES)
    await terminal.shows('waits for a1, a2 and a3')
    const tree = treeOf(terminal.visible())
    expect(tree).toHaveLength(5)
    expect(tree[0]).toMatch(/^● root Take a note +waits for a1, a2 and a3 /)
    expect(tree[3]).toMatch(/^└ ● a3 Look at the chimney +asks the model /)
    expect(await terminal.ended).toBe(0)
    const shown = terminal.screen().split('\n')
    expect(shown.filter((line) => /^✓ a[123] completed · 1 call · /.test(line))).toHaveLength(3)
    expect(shown).toContain('a2 → list_dir list .')
    const last = shown.findIndex((line) => line.startsWith('✓ root Take a note'))
    expect(shown[last - 1]).toBe('All looked at.')
    expect(shown.slice(last + 1, last + 4).map((line) => line.slice(0, 8))).toEqual([
      '├ ✓ a1 L',
      '├ ✓ a2 L',
      '└ ✓ a3 L',
    ])
    expect(shown[last + 4]).toMatch(/^3 sub-agents: 3 done · 8 calls · /)
    expect(shown[last + 5]).toMatch(/^completed · 10 turns · 8 tool calls · 3 sub-agents · /)
    expect(terminal.cursorShown()).toBe(true)
  })

  it('is cancelled by Ctrl-C with everything below it', async () => {
    const cwd = makeProject({ 's.yaml': LONG.replace(/ {4}- calls:\n {8}- write_file.*\n/, '') })
    const terminal = start(cwd)
    await terminal.shows('waits for a1, a2 and a3')
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(130)
    const screen = terminal.screen()
    expect(screen).toContain('cancelling; press Ctrl-C again to stop at once')
    expect(screen.match(/^✗ a[123] failed, cancelled/gm)).toHaveLength(3)
    expect(screen).toMatch(/^3 sub-agents: 3 failed/m)
    expect(terminal.cursorShown()).toBe(true)
  })

  it('leaves the tree and a terminal in order when a supervisor ends the process', async () => {
    const cwd = makeProject({ 's.yaml': LONG.replace(/ {4}- calls:\n {8}- write_file.*\n/, '') })
    const terminal = start(cwd)
    await terminal.shows('waits for a1, a2 and a3')
    terminal.signal('SIGTERM')
    expect(await terminal.ended).toBe(143)
    await terminal.shows('Go on with: retinue resume')
    const shown = terminal.screen().split('\n')
    expect(shown.at(-1)).toMatch(/^retinue: stopped by SIGTERM\. /)
    expect(shown.at(-2)).toMatch(/^3 sub-agents: 3 at work/)
    expect(treeOf(shown)).toHaveLength(5)
    expect(terminal.cursorShown()).toBe(true)
  })

  it('is seen by somebody who watches from elsewhere', async () => {
    const cwd = makeProject({ 's.yaml': LONG.replace(/ {4}- calls:\n {8}- write_file.*\n/, '') })
    const terminal = start(cwd)
    await terminal.shows('waits for a1, a2 and a3')
    const run_id = (await runOf(cwd)) as string
    const watcher = openTerminal(['watch', run_id], cwd)
    await watcher.shows('waits for a1, a2 and a3')
    expect(treeOf(watcher.visible())).toHaveLength(5)
    watcher.type(CTRL_C)
    await watcher.ended
    await watcher.until(watcher.cursorShown, () => 'the cursor')
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(130)
  })
})

describe('sub-agents that may ask', () => {
  const SCRIPT = `agents:
  root:
    - calls:
        - spawn: { task: "Write one" }
        - spawn: { task: "Write two" }
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: "Both written."
  a1:
    - calls:
        - write_file: { path: one.txt, content: "one" }
    - text: "Written."
  a2:
    - calls:
        - write_file: { path: two.txt, content: "two" }
    - text: "Written."
`

  it('are heard one after the other', async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT, '.none/retinue/config.yaml': 'delegation: { ask_person: true }\n' })
    const terminal = start(cwd)
    await terminal.asks()
    // The other has asked by now, or does so while this one is open: its question is not drawn into this one.
    const first = terminal.screen().includes('one.txt') ? 'one.txt' : 'two.txt'
    const second = first === 'one.txt' ? 'two.txt' : 'one.txt'
    expect(terminal.screen().match(/Yes, this once/g)).toHaveLength(1)
    expect(existsSync(join(cwd, first))).toBe(false)
    terminal.type(YES)
    await terminal.shows(`write_file: create ${second}`)
    await terminal.asks()
    terminal.type(YES)
    expect(await terminal.ended).toBe(0)
    expect(readFileSync(join(cwd, 'one.txt'), 'utf8') + readFileSync(join(cwd, 'two.txt'), 'utf8')).toBe('onetwo')
    expect(terminal.screen()).toMatch(/^2 sub-agents: 2 done/m)
  })
})
