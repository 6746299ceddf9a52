import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { CTRL_C, ENTER, openTerminal, YES } from '../support/terminal.js'

const ESC = '\u001b'
const TAB = '\t'

/** Answers to what was said last, whatever came before. */
const SCRIPT = `agents:
  root:
    - &turn
      branches:
        - when: { contains: "Wait long" }
          steps:
            - { text: "I begin.", calls: [{ list_dir: {} }] }
            - branches:
                - when: { contains: "Good evening" }
                  steps: [{ text: "Hello from the root." }]
                - steps: [{ delay_ms: 60000, text: "Late." }]
        - when: { contains: "Wait a bit" }
          steps: [{ delay_ms: 3000, text: "That took a bit." }]
        - when: { contains: "Write a note" }
          steps: [{ calls: [{ write_file: { path: note.txt, content: "hello\\n" } }] }, { text: "Noted." }]
        - steps: [{ text: "Hello from the root." }]
    - *turn
    - *turn
    - *turn
  "a*":
    - delay_ms: 1500
      calls: [{ list_dir: {} }]
    - delay_ms: 1500
      text: "Words of the sub-agent."
`

function project() {
  return makeProject({ 's.yaml': SCRIPT, 'notes/today.md': 'x\n' })
}

const chat = (cwd: string, ...args: string[]) =>
  openTerminal(['chat', '--model', 'scripted/s.yaml', ...args], cwd, { env: { NO_COLOR: '1' }, cols: 100, rows: 30 })

const runsOf = async (cwd: string) =>
  lines((await retinue(['runs', '--json'], { cwd })).stdout) as { run_id: string; status: string; outcome: string }[]

describe('a chat at a terminal', () => {
  it('answers, keeps commands out of the conversation, and goes on with the session later', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Good morning${ENTER}`)
    await terminal.shows('Hello from the root.')
    await terminal.shows('completed · 1 turn')
    terminal.type(`/mode${ENTER}`)
    await terminal.shows('Mode: ')
    // The input is there again when the command is done.
    await terminal.until(
      () => terminal.visible().some((line) => /^> *$/.test(line)),
      () => 'the empty input',
    )
    const rule = '─'.repeat(99)
    const shown = terminal.screen().replaceAll(/ · [^·]*tokens .*/g, ' …')
    expect(shown.split('\n').map((line) => line.trimEnd())).toEqual([
      expect.stringMatching(/^Retinue \d.* in \/.* · a new session$/),
      '/help shows the commands, @handle hands a message to an agent, Esc interrupts, Ctrl-C twice leaves.',
      '> Good morning',
      'Hello from the root.',
      'completed · 1 turn · 0 tool calls …',
      '> /mode',
      'Mode: normal. There are plan, normal, auto, dangerous.',
      rule,
      '>',
      rule,
      expect.stringMatching(/^scripted\/s\.yaml · normal mode +\S/),
    ])
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
    const [, session_id] = /retinue chat --resume (\w+)/.exec(terminal.screen()) ?? []
    const again = chat(cwd, '--continue')
    await again.shows(`session ${session_id}, 1 run`)
    await again.shows('Good morning')
    again.type(`And now?${ENTER}`)
    await again.shows('> And now?')
    await again.until(
      () => (again.screen().match(/completed · 1 turn/g) ?? []).length === 1,
      () => 'the second answer',
    )
    again.type(`/exit${ENTER}`)
    expect(await again.ended).toBe(0)
    const [last] = await runsOf(cwd)
    const events = lines((await retinue(['show', last?.run_id as string, '--json'], { cwd })).stdout) as {
      type: string
      data: Record<string, unknown>
    }[]
    const request = events.find(({ type }) => type === 'agent.started')?.data
    expect(request).toMatchObject({ task: 'And now?', calls_before: expect.any(Number) })
    expect(JSON.stringify(events)).not.toContain('/mode')
    const log = lines((await retinue(['audit', '--json'], { cwd })).stdout) as {
      type: string
      data: { command: string }
    }[]
    expect(log.map(({ type, data }) => `${type.slice(16)} ${data.command}`)).toEqual([
      ...['executed mode', 'executed exit'],
    ])
  }, 120_000)

  it('completes commands and handles, and shows the tree of the agent that a message is for', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`/ag${TAB}`)
    await terminal.shows('> /agents ')
    terminal.type(`reg${TAB}`)
    await terminal.shows('> /agents register ')
    terminal.type(`@writer | executor | Writes.${ENTER}`)
    await terminal.shows('@writer is registered')
    terminal.type(`@wr${TAB}`)
    await terminal.shows('> @writer ')
    terminal.type(`Write the docs${ENTER}`)
    await terminal.until(
      () => terminal.visible().some((line) => /^└ ● a1 executor: Write the docs/.test(line)),
      () => 'the tree',
    )
    expect(terminal.visible().some((line) => line.startsWith('> '))).toBe(true)
    await terminal.shows('Words of the sub-agent.')
    await terminal.shows('1 sub-agent ·')
    terminal.type(`@wirter x${ENTER}`)
    await terminal.shows('There is no agent @wirter. Did you mean @writer?')
    // Of what was drawn below while it went on, nothing is left above.
    expect(terminal.screen().match(/> @writer Write the docs/g)).toHaveLength(1)
    terminal.type(`${CTRL_C}${CTRL_C}`)
    expect(await terminal.ended).toBe(0)
  }, 120_000)

  it('takes commands and messages while an answer is under way; Esc ends the answer and not the task', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Wait long${ENTER}`)
    await terminal.shows('I begin.')
    terminal.type(`/spawn Wait a bit${ENTER}`)
    await terminal.shows('t1 works in the background')
    terminal.type(`Good evening${ENTER}`)
    await terminal.shows('queued: Good evening')
    await terminal.shows('in the background: t1')
    terminal.type(ESC)
    await terminal.shows('cancelled')
    // What waited is in the input again.
    await terminal.shows('> Good evening')
    terminal.type(ENTER)
    await terminal.shows('Hello from the root.')
    await terminal.shows('✓ t1 completed: That took a bit.')
    expect(terminal.screen()).not.toContain('Late.')
    terminal.type(`/tasks${ENTER}`)
    await terminal.shows('t1   completed  Wait a bit · That took a bit.')
    terminal.type(`/exit${ENTER}`)
    expect(await terminal.ended).toBe(0)
    expect((await runsOf(cwd)).map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'cancelled'])
  }, 120_000)

  it('is left by Ctrl-C twice with what is at work named, and goes on with it', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`/spawn Wait long${ENTER}`)
    await terminal.shows('t1 works in the background')
    terminal.type(`/exit${ENTER}`)
    expect(await terminal.ended).toBe(130)
    const [task] = await runsOf(cwd)
    expect(task?.status).toBe('interrupted')
    expect(terminal.screen()).toContain(`go on with: retinue resume ${task?.run_id}`)

    const again = chat(cwd, '-c')
    await again.shows('t1 was interrupted: /resume t1')
    again.type(`/resume t1${ENTER}`)
    await again.shows('t1 goes on in the background')
    again.type(`/stop t1${ENTER}`)
    await again.shows('t1 is closed: cancelled')
    again.type(`Wait long${ENTER}`)
    await again.shows('I begin.')
    again.type('\u0004')
    expect(await again.ended).toBe(130)
    const [answer] = await runsOf(cwd)
    expect(answer?.status).toBe('interrupted')

    const third = chat(cwd, '-c')
    await third.shows(`The last answer was interrupted (run ${answer?.run_id}): /resume goes on with it`)
    third.type(`Good evening${ENTER}`)
    await third.shows('/resume goes on with it, /stop')
    third.type(`/resume${ENTER}`)
    await third.shows('resumed by')
    third.type(ESC)
    await third.shows('cancelled')
    third.type(`Good evening${ENTER}`)
    await third.shows('Hello from the root.')
    await third.shows('completed · 1 turn')
    third.type(`${CTRL_C}${CTRL_C}`)
    expect(await third.ended).toBe(0)
  }, 120_000)

  it('asks for the answer and for what works in the background, and says which', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`/spawn Write a note${ENTER}`)
    await terminal.shows('t1 write_file: create note.txt')
    await terminal.asks()
    terminal.type(YES)
    await terminal.shows('✓ t1 completed: Noted.')
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello\n')
    terminal.type(`Write a note${ENTER}`)
    await terminal.shows('? write_file: ')
    await terminal.asks()
    terminal.type(ESC)
    await terminal.shows('  → No')
    await terminal.shows('completed · 2 turns')
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(cwd, 'note.txt'))).toBe(true)
  }, 120_000)
})
