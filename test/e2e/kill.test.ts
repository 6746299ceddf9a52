import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { ended, lines, retinue } from '../support/cli.js'
import { longRunProject } from '../support/long-run.js'
import { git, tree } from '../support/project.js'
import { withTree } from '../support/tree-work.js'
import { runOf } from '../support/workspace-work.js'

const VICTIM = fileURLToPath(new URL('../support/victim.mjs', import.meta.url))
const FULL = process.env.RETINUE_FULL === '1'

/** Events of an undisturbed run; the sweep checks that the number is right. */
const EVENTS = 44

type Line = StoredEvent | { type: 'result'; outcome: string; text: string; run_id: string }

async function work(cwd: string, run_id: string, position: number, when: 'before' | 'after'): Promise<Line[]> {
  const child = spawn(process.execPath, [VICTIM, cwd, run_id, String(position), when], { stdio: 'pipe' })
  child.stdin.end()
  const { stdout, stderr, signal } = await ended(child)
  const out = lines(stdout) as Line[]
  if (signal !== 'SIGKILL' && out.at(-1)?.type !== 'result') throw new Error(`victim: ${stderr}`)
  return out
}

const events = (out: Line[]) => out.filter((line): line is StoredEvent => line.type !== 'result')

/** What must hold of a run however often it was killed on the way. */
async function check(cwd: string, acknowledged: StoredEvent[]): Promise<void> {
  const { run, log, replay } = await withTree(cwd, async (known) => {
    const [run] = await known.runs()
    const run_id = run?.run_id as string
    return { run, log: await known.events(run_id), replay: await known.replay(run_id) }
  })
  expect(run).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(tree(cwd)).toMatchObject({ 'a.txt': 'omega\nbeta\n', 'out/new.txt': 'one\nthree\n', 'ran.log': 'ran\n' })
  expect(git(cwd, 'log', '--format=%s')).toBe('Work\nstart\n')

  for (const event of acknowledged) expect(log).toContainEqual(event)
  expect(log.filter((event) => event.type === 'run.closed')).toHaveLength(1)

  // Every intent has one result, and a call that was made twice says so in the log.
  for (const event of log) {
    if (event.type !== 'tool.called' || event.data.attempt > 1) continue
    const { call_id } = event.data
    const attempts = log.filter((e) => e.type === 'tool.called' && e.data.call_id === call_id)
    const results = log.filter((e) => e.type === 'tool.finished' && e.data.call_id === call_id)
    expect(results).toHaveLength(1)
    attempts.forEach((attempt, i) => {
      expect(attempt.data).toMatchObject({ attempt: i + 1 })
    })
  }
  expect(replay).toMatchObject({ ok: true })
}

describe('a run that is killed with SIGKILL and resumed', () => {
  it('is, undisturbed, the run that the sweep counts on', async () => {
    const cwd = longRunProject()
    const out = await work(cwd, '-', 0, 'before')
    expect(events(out)).toHaveLength(EVENTS)
    expect(EVENTS).toBeGreaterThanOrEqual(30)
    await check(cwd, events(out))
  })

  const positions = Array.from({ length: EVENTS }, (_, i) => i + 1)
  const kills = positions.flatMap((position) => [
    { position, when: 'before' as const },
    { position, when: 'after' as const },
  ])
  // Every ninth of them, and always the first and last, in the quick suite; all of them in the full one.
  const chosen = kills.filter((_, i) => FULL || i % 15 === 0 || i === kills.length - 1)

  it.concurrent.for(chosen)(
    '$when the commit of event $position, ends as if nothing had happened',
    async ({ position, when }, { onTestFinished }) => {
      const cwd = longRunProject(onTestFinished)
      const killed = await work(cwd, '-', position, when)
      const run_id = await runOf(cwd)
      if (run_id === null) {
        // Nothing was ever acknowledged: there is no run, and nothing to resume.
        expect(killed).toEqual([])
        return
      }
      const resumed = await retinue(['resume', run_id, '--output-format', 'stream-json'], { cwd })
      expect(resumed.stderr).toBe('')
      expect(resumed.code).toBe(0)
      await check(cwd, events(killed))
    },
  )

  it('again and again, at another place each time, still ends the same', async () => {
    const cwd = longRunProject()
    const acknowledged = events(await work(cwd, '-', 6, 'after'))
    const run_id = (await runOf(cwd)) as string
    // Each resume adds events of its own, so every kill is somewhere further on.
    for (let position = acknowledged.length + 3; position < 120; position += 5) {
      const out = await work(cwd, run_id, position, position % 2 === 0 ? 'before' : 'after')
      acknowledged.push(...events(out))
      if (out.at(-1)?.type === 'result') break
    }
    await retinue(['resume', run_id], { cwd })
    await check(cwd, acknowledged)
  })
})
