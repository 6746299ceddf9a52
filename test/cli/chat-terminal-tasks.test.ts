import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { ENTER, openTerminal } from '../support/terminal.js'

const SCRIPT = `agents:
  root:
    - branches:
        - when: { contains: "Wait long" }
          steps: [{ text: "I begin.", calls: [{ list_dir: {} }] }, { delay_ms: 60000, text: "Late." }]
        - steps: [{ text: "Hello from the root." }]
  "a*":
    - calls: [{ write_file: { path: note.txt, content: "x" } }]
    - text: "Words of the sub-agent."
`

const project = (files: Record<string, string> = {}) => makeProject({ 's.yaml': SCRIPT, ...files })
const chat = (cwd: string, ...args: string[]) =>
  openTerminal(['chat', '--model', 'scripted/s.yaml', ...args], cwd, { env: { NO_COLOR: '1' } })
type Listed = { run_id: string; session_id: string; status: string; outcome: string; task: string }
const runsOf = async (cwd: string) => lines((await retinue(['runs', '--json'], { cwd })).stdout) as Listed[]

describe('tasks of a chat', () => {
  it('are in plan mode where the chat is, also for an agent that was called', async () => {
    const cwd = project({ '.config/retinue/config.yaml': 'permissions:\n  allow: [write_file]\n' })
    const at = { cwd, env: { XDG_CONFIG_HOME: join(cwd, '.config') } }
    await retinue(['agents', 'register', '@writer', 'executor', 'Writes.'], at)
    const said = async (...input: string[]) =>
      (await retinue(['chat', '--model', 'scripted/s.yaml'], { ...at, input: `${input.join('\n')}\n` })).stdout
    expect(await said('/mode plan', '/spawn @writer write a note', '/await')).toContain('Words of the sub-agent.')
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
    // It would have been written otherwise.
    await said('/spawn @writer write a note', '/await')
    expect(existsSync(join(cwd, 'note.txt'))).toBe(true)
  }, 120_000)

  it('are in the one session of what is said in one breath, each with an id of its own', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Wait long${ENTER}/spawn Wait long one${ENTER}/spawn Wait long two${ENTER}`)
    await terminal.shows('t1 works in the background')
    await terminal.shows('t2 works in the background')
    await terminal.shows('in the background: t1, t2')
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(130)
    const runs = await runsOf(cwd)
    const said = [...terminal.screen().matchAll(/(t\d) works in the background \(run (\w+)\)/g)]
    expect(new Set(said.map(([, id]) => id))).toEqual(new Set(['t1', 't2']))
    for (const [, id, run_id] of said) {
      const task = runs.find((run) => run.run_id === run_id)?.task
      expect(['Wait long one', 'Wait long two']).toContain(task)
      const { stdout } = await retinue(['chat', '--continue'], { cwd, input: `/stop ${id}\n` })
      expect(stdout).toContain(`${id} is closed: cancelled`)
      expect((await runsOf(cwd)).find((run) => run.run_id === run_id)?.outcome).toBe('cancelled')
    }
    const answer = runs.find(({ task }) => task === 'Wait long')
    const [, session_id] = /retinue chat --resume (\w+)/.exec(terminal.screen()) ?? []
    expect(answer?.session_id).toBe(session_id)
  }, 120_000)

  it('keep their ids in the session that /clear begins', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`/spawn Look around${ENTER}`)
    await terminal.shows('✓ t1 completed')
    terminal.type(`/spawn Wait long${ENTER}`)
    await terminal.shows('t2 works in the background')
    terminal.type(`/clear${ENTER}`)
    await terminal.shows('A new session. At work in it as before: t2.')
    terminal.type(`/spawn Wait long again${ENTER}`)
    await terminal.shows('t3 works in the background')
    terminal.type(`/stop t2${ENTER}`)
    await terminal.shows('t2 is closed: cancelled')
    expect((await runsOf(cwd)).map(({ task, outcome, status }) => `${task}: ${outcome ?? status}`)).toEqual([
      'Wait long again: running',
      'Wait long: cancelled',
      'Look around: completed',
    ])
    terminal.type(`/stop all${ENTER}`)
    await terminal.shows('t3 is closed: cancelled')
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
  }, 120_000)

  it('have the same ids in two chats on one session, and each sees those of the other', async () => {
    const cwd = project()
    const first = chat(cwd)
    await first.shows('/help shows the commands')
    first.type(`Hello${ENTER}`)
    await first.shows('completed · 1 turn')
    const second = chat(cwd, '--continue')
    await second.shows('/help shows the commands')
    first.type(`/spawn Wait long one${ENTER}`)
    await first.shows('t1 works in the background')
    second.type(`/tasks${ENTER}`)
    await second.shows('t1   running  Wait long one')
    second.type(`/spawn Wait long two${ENTER}`)
    await second.shows('t2 works in the background')
    first.type(`/stop t2${ENTER}`)
    await first.shows('t2 is closed: cancelled')
    expect((await runsOf(cwd)).map(({ task, outcome, status }) => `${task}: ${outcome ?? status}`)).toEqual([
      'Wait long two: cancelled',
      'Wait long one: running',
      'Hello: completed',
    ])
    for (const terminal of [first, second]) {
      terminal.type('\u0004')
      await terminal.ended
    }
  }, 120_000)

  it('that do not begin are said to fail, and nothing else', async () => {
    const cwd = project()
    await retinue(['agents', 'register', '@writer', 'executor', 'Writes.'], { cwd })
    const input = '/spawn @writer write a note\n/tasks\n'
    const { stdout, code } = await retinue(['chat', '--model', 'scripted/none.yaml'], { cwd, input })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ t1 did not begin: .*none\.yaml/)
    expect(stdout).toMatch(/^t1 {3}failed /m)
    expect(stdout).not.toContain('works in the background')
    expect(stdout).not.toContain('t1 failed:')
  }, 120_000)
})
