import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { CTRL_C, ENTER, openTerminal } from '../support/terminal.js'

const ESC = '\u001b'
const SIGHUP = 1

const SCRIPT = `agents:
  root:
    - &turn
      branches:
        - when: { contains: "Wait long" }
          steps: [{ text: "I begin.", calls: [{ list_dir: {} }] }, { delay_ms: 5000, text: "Late." }]
        - steps: [{ text: "Hello from the root." }]
    - *turn
    - *turn
`

const project = () => makeProject({ 's.yaml': SCRIPT })
const chat = (cwd: string, env: Record<string, string> = {}) =>
  openTerminal(['chat', '--model', 'scripted/s.yaml'], cwd, { env: { NO_COLOR: '1', ...env } })
const runsOf = async (cwd: string) =>
  lines((await retinue(['runs', '--json'], { cwd })).stdout) as { run_id: string; status: string; task: string }[]

describe('leaving a chat', () => {
  it.each([40, 400])(
    'by Ctrl-C twice, %i ms apart, leaves the answer to be resumed',
    async (apart) => {
      const cwd = project()
      const terminal = chat(cwd)
      await terminal.shows('/help shows the commands')
      terminal.type(`Wait long${ENTER}`)
      await terminal.shows('I begin.')
      terminal.type(CTRL_C)
      await terminal.shows('Esc interrupts · Ctrl-C again leaves')
      await sleep(apart)
      terminal.type(CTRL_C)
      expect(await terminal.ended).toBe(130)
      const [run] = await runsOf(cwd)
      expect(run?.status).toBe('interrupted')
      expect(terminal.screen()).toContain(`Still to be done, go on with: retinue resume ${run?.run_id}`)
      const { code, stdout } = await retinue(['resume', run?.run_id as string], { cwd })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'Late.\n' })
    },
    120_000,
  )

  it('says what was not sent', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Wait long${ENTER}`)
    await terminal.shows('I begin.')
    terminal.type(`A second thing${ENTER}/clear${ENTER}`)
    await terminal.shows('queued: /clear')
    terminal.type(`${CTRL_C}${CTRL_C}`)
    expect(await terminal.ended).toBe(130)
    expect(terminal.screen()).toMatch(/go on with: retinue resume \w+\nNot sent: A second thing\nNot sent: \/clear\n/)
    expect((await runsOf(cwd)).map(({ task }) => task)).toEqual(['Wait long'])
  }, 120_000)

  it('takes back on Esc what waits behind the answer, to be sent again or not', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Wait long${ENTER}`)
    await terminal.shows('I begin.')
    terminal.type(`A second thing${ENTER}half`)
    await terminal.shows('queued: A second thing')
    terminal.type(ESC)
    await terminal.shows('cancelled')
    await terminal.until(
      () => /> A second thing *\n {2}half/.test(terminal.visible().join('\n')),
      () => 'what waited, in the input',
    )
    terminal.type(ENTER)
    await terminal.shows('completed · 1 turn')
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
    expect((await runsOf(cwd)).map(({ task }) => task)).toEqual(['A second thing\nhalf', 'Wait long'])
  }, 120_000)

  it('does not wait for a server that does not answer, if asked once more; it says what it waits for', async () => {
    const cwd = project()
    mkdirSync(`${cwd}/conf/retinue`, { recursive: true })
    writeFileSync(`${cwd}/conf/retinue/config.yaml`, 'mcp_servers:\n  slow: { command: sleep, args: ["300"] }\n')
    const terminal = chat(cwd, { XDG_CONFIG_HOME: `${cwd}/conf` })
    await terminal.shows('/help shows the commands')
    terminal.type(`Hello${ENTER}`)
    await terminal.shows('Esc interrupts')
    terminal.type(ESC)
    await sleep(300)
    terminal.type(`${CTRL_C}${CTRL_C}`)
    await terminal.shows('Waiting until the answer can be resumed: MCP servers are being started for it.')
    await terminal.shows('Ctrl-C leaves at once')
    // Nothing has come of it by now, and without this key nothing would for half a minute.
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(130)
    expect(terminal.screen()).toContain('Not sent: Hello')
    expect(await runsOf(cwd)).toEqual([])
  }, 120_000)

  it('is what a closed window does: nothing crashes, and all of it can be resumed', async () => {
    const cwd = project()
    const terminal = chat(cwd)
    await terminal.shows('/help shows the commands')
    terminal.type(`Wait long${ENTER}`)
    await terminal.shows('I begin.')
    terminal.type(`/spawn Wait long too${ENTER}`)
    await terminal.shows('t1 works in the background')
    terminal.hangUp()
    expect(await terminal.killed).toBe(SIGHUP)
    const runs = await runsOf(cwd)
    expect(runs.map(({ status, task }) => `${status} ${task}`)).toEqual([
      'interrupted Wait long too',
      'interrupted Wait long',
    ])
    for (const { run_id } of runs) {
      const { code, stdout } = await retinue(['resume', run_id], { cwd })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'Late.\n' })
    }
  }, 120_000)
})
