import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CTRL_C, openTerminal, type TerminalOptions } from '../support/terminal.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// Below node_modules, so that packages, which are not bundled, are found from there.
const BUILT = `${ROOT}/node_modules/.cache/retinue/live-tree-${process.pid}`

beforeAll(async () => {
  await build({
    ...{ entryPoints: [`${ROOT}/test/cli/play-tree.ts`], outdir: BUILT, outExtension: { '.js': '.mjs' } },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20', splitting: true },
  })
})
afterAll(() => rmSync(BUILT, { recursive: true, force: true }))

/** The view in a real terminal, with events that the test lets go on. */
const play = (what: string, options: TerminalOptions = {}) =>
  openTerminal([what], ROOT, { program: `${BUILT}/play-tree.mjs`, ...options })

/** Resolves when the process has been stopped, as by Ctrl-Z. Nothing tells of it but its state. */
async function stopped(pid: number): Promise<void> {
  while (!execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T')) await sleep(20)
}

const TREE = /^[├└●○✓✗◆?] |^\d+ sub-agents?: /
const treeOf = (lines: string[]) => lines.filter((line) => TREE.test(line) && !/^✓ a\d /.test(line))

describe('the live tree', () => {
  it('is drawn below what scrolls by, goes away for a question and stays as lines at the end', async () => {
    const terminal = play('story', { cols: 90, rows: 24 })
    await terminal.shows('I look around.')
    expect(terminal.screen()).toBe('I look around.')
    terminal.signal('SIGUSR2')
    await terminal.shows('half a sen')
    await terminal.shows('“the gutter is blocked')
    expect(terminal.cursorShown()).toBe(false)
    const lines = terminal.visible().filter((line) => line !== '')
    expect(lines.slice(0, 6)).toEqual([
      'I look around.',
      '↳ a1 Task of a1 (p/m)',
      '↳ a2 Task of a2 (p/m)',
      '↳ a3 Task of a3 (p/m)',
      'a1 → read_file src/slates.ts',
      'half a sen',
    ])
    expect(lines.slice(6).map((line) => line.replace(/ +\d+ s$/, '').replace(/ {2,}/g, '  '))).toEqual([
      '● root Mend the roof  waits for a1, a2 and a3',
      '├ ● a1 Task of a1  read_file src/slates.ts  1 call',
      '├ ● a2 Task of a2  “the gutter is blocked',
      '└ ● a3 Task of a3',
      expect.stringMatching(/^3 sub-agents: 3 at work · 1 call · 0 tokens · \$0\.00 ·/),
    ])

    terminal.signal('SIGUSR2')
    await terminal.shows('And more')
    // The tree is away while words are written, and comes back after them.
    const went = () => terminal.visible().filter((line) => line !== '')
    await expect
      .poll(() => went().slice(5, 8), { timeout: 100_000 })
      .toEqual(['half a sentence.', 'And more', expect.stringContaining('● root')])
    await expect.poll(() => treeOf(went()), { timeout: 100_000 }).toHaveLength(5)

    terminal.signal('SIGUSR2')
    await terminal.shows('yes')
    expect(terminal.cursorShown()).toBe(true)
    const asked = terminal.screen()
    expect(asked.split('\n').slice(-3)).toEqual(['And more', 'Shall I? (y/n)', 'yes'])
    terminal.signal('SIGUSR2')
    await terminal.shows('a3 → read_file src/gutter.ts')
    await terminal.shows('sub-agents: 3 at work · 2 calls')
    await expect.poll(() => treeOf(terminal.visible()), { timeout: 100_000 }).toHaveLength(5)

    terminal.signal('SIGUSR2')
    await terminal.shows('the end')
    expect(await terminal.ended).toBe(0)
    const last = terminal.screen().split('\n')
    expect(treeOf(last)).toHaveLength(5)
    expect(last.at(-1)).toBe('the end')
    expect(last.at(-2)).toMatch(/^3 sub-agents: 3 done/)
    expect(last).toContain('✓ a1 completed · 3 calls · 1.2 s')
    expect(terminal.cursorShown()).toBe(true)
  })

  it('fits the screen, also when that is made smaller and larger', async () => {
    const terminal = play('wait', { cols: 100, rows: 40 })
    await terminal.shows('20 sub-agents: 20 at work')
    expect(treeOf(terminal.visible())).toHaveLength(22)
    for (const [cols, rows, lines] of [
      [50, 40, 22],
      [50, 12, 8],
      [120, 30, 22],
    ] as const) {
      terminal.resize(cols, rows)
      await terminal.until(
        () => {
          const visible = terminal.visible()
          const drawn = treeOf(visible)
          const whole = visible.filter((line) => line !== '').at(-1) === drawn.at(-1)
          return whole && drawn.length === lines && drawn.every((line) => line.length < cols)
        },
        () => `${lines} lines in ${cols} columns`,
      )
    }
    terminal.signal('SIGUSR2')
    expect(await terminal.ended).toBe(0)
    expect(terminal.cursorShown()).toBe(true)
  })

  it('gives the cursor back when the process is interrupted, stopped and continued, or crashes', async () => {
    const interrupted = play('wait')
    await interrupted.shows('20 sub-agents: 20 at work')
    interrupted.signal('SIGTSTP')
    await interrupted.until(interrupted.cursorShown, () => 'the cursor')
    await stopped(interrupted.pid)
    expect(interrupted.screen()).not.toContain('20 sub-agents')
    interrupted.signal('SIGCONT')
    await interrupted.until(
      () => !interrupted.cursorShown() && interrupted.screen().includes('20 sub-agents'),
      () => 'the tree again',
    )
    interrupted.type(CTRL_C)
    await interrupted.ended
    await interrupted.until(interrupted.cursorShown, () => 'the cursor')
    expect(interrupted.screen()).not.toContain('20 sub-agents')

    const crashed = play('crash')
    await crashed.shows('1 sub-agent: 1 at work')
    crashed.signal('SIGUSR2')
    await crashed.shows('the roof fell in')
    expect(await crashed.ended).toBe(1)
    expect(crashed.cursorShown()).toBe(true)
  })

  it('has the words of the root where they belong, before a question too, however far ahead of the log they are', async () => {
    const terminal = play('ahead')
    await terminal.shows('There is a hole.')
    expect(terminal.screen()).toBe('I look around.\n→ read_file roof.md\nThere is a hole.')
    terminal.signal('SIGUSR2')
    expect(await terminal.ended).toBe(0)
    // The last words are of a request that was never seen.
    expect(terminal.screen()).toBe('I look around.\n→ read_file roof.md\nThere is a hole.\nShall I? (y/n)\nI mend')
  })

  it('does not come up while somebody is being asked', async () => {
    const terminal = play('early')
    await terminal.shows('yes')
    expect(terminal.screen()).toBe('Shall I? (y/n)\nyes')
    terminal.signal('SIGUSR2')
    await terminal.shows('1 sub-agent: 1 at work')
    expect(terminal.visible().slice(0, 4)).toEqual([
      'Shall I? (y/n)',
      'yes',
      '↳ a1 Task of a1 (p/m)',
      expect.stringMatching(/^● root Mend the roof +waits for a1/),
    ])
  })

  it('is not there on a terminal that cannot draw', async () => {
    const terminal = play('story', { env: { TERM: 'dumb' } })
    await terminal.shows('I look around.')
    terminal.signal('SIGUSR2')
    await terminal.shows('half a sen')
    expect(terminal.written()).not.toContain('\u001b')
    expect(terminal.screen().split('\n').at(-2)).toBe('a1 → read_file src/slates.ts')
  })
})
