import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { type BusyTree, busyTree, endsOf, isBusy, letGo, startBusy } from '../support/busy-tree.js'
import { retinue } from '../support/cli.js'
import { describeSandboxed } from '../support/sandbox.js'
import { CTRL_C, openTerminal } from '../support/terminal.js'
import { withTree } from '../support/tree-work.js'

const ALL_CANCELLED = { root: 'cancelled', a1: 'cancelled', a2: 'cancelled', a3: 'cancelled', a4: 'cancelled' }

function logOf(cwd: string, run_id: string): Promise<StoredEvent[]> {
  return withTree(cwd, (known) => known.events(run_id))
}

/** From when the word of the canceller was heard, which takes a fifth of a second at most, to the end of the run. */
async function timeToClose(cwd: string, run_id: string): Promise<number> {
  return withTree(cwd, async ({ store }) => {
    const log = await store.read({ run_id })
    const at = (wanted: string) => log.find(({ type }) => type === wanted)?.at ?? Number.NaN
    return at('run.closed') - at('run.cancel_requested')
  })
}

// Each of them starts several processes, and none may be cut short by a busy machine.
vi.setConfig({ testTimeout: 120_000 })

describeSandboxed('a tree at work', () => {
  it('is cancelled from another process, with all that is in it, within two seconds', { retry: 2 }, async () => {
    const tree = busyTree()
    const { cwd, left } = tree
    const { end, run_id } = await startBusy(tree)
    await expect.poll(left, { timeout: 100_000 }).toHaveLength(2)
    const cancelled = await retinue(['cancel', run_id, '--reason', 'enough'], { cwd })
    expect(left()).toEqual([])
    expect(cancelled).toMatchObject({ code: 0, stdout: `Run ${run_id} is closed: cancelled\n` })
    expect((await end).code).toBe(130)
    const log = await logOf(cwd, run_id)
    expect(endsOf(log)).toEqual({ ends: { ...ALL_CANCELLED, 'a3.1': 'cancelled' }, faults: [] })
    // The one that waited for its turn never began.
    expect(log.filter(({ agent_id }) => agent_id === 'a3.1')).toEqual([])
    expect(await timeToClose(cwd, run_id)).toBeLessThan(1800)
  })

  it('goes on without a sub-agent that is cancelled, and without all below it', async () => {
    const tree = busyTree()
    const { cwd, left } = tree
    const { end, run_id } = await startBusy(tree)
    await expect.poll(left, { timeout: 100_000 }).toHaveLength(2)
    expect(await retinue(['cancel', run_id, 'a3', '--reason', 'not that'], { cwd })).toMatchObject({
      code: 0,
      stdout: `Agent a3 of run ${run_id} is closed: cancelled\n`,
    })
    expect(await retinue(['cancel', run_id, 'a1'], { cwd })).toMatchObject({ code: 0 })
    expect(left()).toHaveLength(2)
    writeFileSync(join(cwd, 'go'), '')
    expect((await end).code).toBe(0)
    expect(endsOf(await logOf(cwd, run_id))).toEqual({
      ends: {
        root: 'completed',
        a1: 'cancelled',
        a2: 'completed',
        a3: 'cancelled',
        'a3.1': 'cancelled',
        a4: 'completed',
      },
      faults: [],
    })
    const told = (await logOf(cwd, run_id)).find(
      (event) => event.type === 'tool.finished' && event.agent_id === 'root' && event.data.tool === 'spawn_await',
    )
    expect(told?.data).toMatchObject({
      content: expect.stringMatching(/\[a1: ERROR\]\ncancelled: cancelled by person/),
    })
    expect(told?.data).toMatchObject({ content: expect.stringMatching(/\[a3: ERROR\]\ncancelled: .*not that/) })
  })

  it('that was killed is closed by a cancel, and nothing of it is begun again', async () => {
    const tree = busyTree()
    const { cwd, left } = tree
    const { child, end, run_id } = await startBusy(tree)
    await expect.poll(left, { timeout: 100_000 }).toHaveLength(2)
    child.kill('SIGKILL')
    await end
    await expect.poll(left, { timeout: 100_000 }).toEqual([])
    const before = (await logOf(cwd, run_id)).length
    expect(await retinue(['cancel', run_id], { cwd })).toMatchObject({ code: 0 })
    const log = await logOf(cwd, run_id)
    expect(endsOf(log)).toEqual({ ends: { ...ALL_CANCELLED, 'a3.1': 'cancelled' }, faults: [] })
    const begun = log.slice(before).filter(({ type }) => /model\.requested|tool\.called|subagent_started/.test(type))
    expect(begun).toEqual([])
    expect(left()).toEqual([])
  })

  it('is cancelled by one Ctrl-C and closed', async () => {
    const { tree, terminal, run_id } = await atTerminal()
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(130)
    expect(tree.left()).toEqual([])
    expect(endsOf(await logOf(tree.cwd, run_id))).toEqual({
      ends: { ...ALL_CANCELLED, 'a3.1': 'cancelled' },
      faults: [],
    })
  })

  it('is left at once by a second Ctrl-C, and a resume goes on with what the log says', async () => {
    const { tree, terminal, run_id } = await atTerminal()
    const { cwd, left } = tree
    terminal.type(CTRL_C)
    await terminal.shows('press Ctrl-C again')
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(130)
    await expect.poll(left, { timeout: 100_000 }).toEqual([])
    const before = await logOf(cwd, run_id)
    // If the first Ctrl-C was not written down before the second, nobody was cancelled either.
    if (before.every(({ type }) => !type.endsWith('cancel_requested'))) return expectResumed(tree, run_id)
    expect(before.filter(({ type }) => type.endsWith('cancel_requested'))[0]?.type).toBe('run.cancel_requested')
    expect((await retinue(['resume', run_id, '-p'], { cwd })).code).toBe(130)
    expect(endsOf(await logOf(cwd, run_id))).toEqual({ ends: { ...ALL_CANCELLED, 'a3.1': 'cancelled' }, faults: [] })
    expect(left()).toEqual([])
  })

  it('is left by SIGTERM as it is, and a resume goes on with all of it', async () => {
    const tree = busyTree()
    const { cwd, left } = tree
    const { child, end, run_id } = await startBusy(tree)
    await expect.poll(left, { timeout: 100_000 }).toHaveLength(2)
    child.kill('SIGTERM')
    expect((await end).code).toBe(143)
    expect(left()).toEqual([])
    expect((await onlyRun(cwd))?.status).toBe('interrupted')
    await expectResumed(tree, run_id)
  })
})

async function onlyRun(cwd: string) {
  return withTree(cwd, async (known) => (await known.runs())[0])
}

/** The tree at a real terminal, busy. */
async function atTerminal() {
  const tree = busyTree()
  const terminal = openTerminal(tree.args, tree.cwd)
  await expect.poll(tree.left, { timeout: 100_000 }).toHaveLength(2)
  const run_id = (await onlyRun(tree.cwd))?.run_id as string
  await expect.poll(async () => isBusy(await logOf(tree.cwd, run_id)), { timeout: 100_000 }).toBe(true)
  return { tree, terminal, run_id }
}

/** Goes on in another process, now that the commands may end. */
async function expectResumed(tree: BusyTree, run_id: string): Promise<void> {
  const { cwd } = tree
  letGo(tree)
  const resumed = await retinue(['resume', run_id, '-p'], { cwd })
  expect(resumed).toMatchObject({ code: 0, stdout: 'All done.\n' })
  const ends = { a1: 'completed', a2: 'completed', a3: 'completed', 'a3.1': 'completed', a4: 'completed' }
  expect(endsOf(await logOf(cwd, run_id))).toEqual({ ends: { root: 'completed', ...ends }, faults: [] })
}
