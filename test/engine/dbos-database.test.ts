import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ownPostgres } from '../support/postgres.js'
import { checkTreeIn } from '../support/tree-check.js'
import { FOUR, TREE_SETTINGS, treeProject } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const SETTINGS = { ...TREE_SETTINGS, workspace: { isolation: 'shared' as const } }

/** Long enough for all leases to run out meanwhile. */
const AWAY_MS = 10_000

/** The same, but that somebody is at work for long enough to be met by it. */
const LONGER = { ...FOUR, script: FOUR.script.replaceAll('delay_ms: 30', 'delay_ms: 800') }

describe('a database that two workers share', () => {
  it.each([
    { name: 'is started again', away_ms: 0, mode: 'fast' as const },
    { name: 'dies and is gone for ten seconds', away_ms: AWAY_MS, mode: 'immediate' as const },
  ])('$name, and a run goes on and ends right', async ({ away_ms, mode }) => {
    const server = await ownPostgres()
    const order = { cwd: treeProject(LONGER.script), store: await server.database(), settings: SETTINGS }
    const workers = await startWorkers(2, order)
    const face = await openFace(order)
    const run = face.run({ task: 'Do the work' })
    const result = run.result()
    result.catch(() => {})
    const done = () => workers.flatMap(({ acknowledged }) => acknowledged)
    await expect.poll(() => done().filter(({ type }) => type === 'tool.finished').length).toBeGreaterThan(2)
    await server.stop(mode)
    await sleep(away_ms)
    await server.start()
    expect(await result).toMatchObject({ outcome: 'completed', text: 'All done.' })
    await checkTreeIn(face, run.run_id, LONGER, done(), expect)
  })
})
