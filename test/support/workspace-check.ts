import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { ExpectStatic } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { toldTo, withTree } from './tree-work.js'
import {
  CHILDREN,
  type Checkout,
  checkout,
  isOfChance,
  landedIn,
  leftovers,
  passADay,
  refsIn,
} from './workspace-run.js'

/**
 * Of a run that is not over: nothing of the person's has been touched, or, while it lands, only what it brings.
 * `landed`: their files with that.
 */
export function checkUntouched(
  cwd: string,
  before: Checkout,
  log: readonly StoredEvent[],
  expect: ExpectStatic,
  landed = landedIn(before.files),
): void {
  const now = checkout(cwd)
  expect(now.repository).toEqual(before.repository)
  expect(refsIn(cwd, 'theirs', 'refs/heads/retinue')).toEqual([])
  if (!log.some(({ type }) => type === 'run.landing')) {
    expect(now.files).toEqual(before.files)
    return
  }
  for (const path of new Set([...Object.keys(before.files), ...Object.keys(landed)])) {
    expect([before.files[path], landed[path]]).toContainEqual(now.files[path])
  }
}

/** What must hold of a log, however the run was killed on the way and wherever its result is. */
export async function checkLog(
  cwd: string,
  run_id: string,
  acknowledged: readonly StoredEvent[],
  expect: ExpectStatic,
): Promise<{ log: StoredEvent[]; told: string[] }> {
  return withTree(cwd, async (retinue) => {
    const log = await retinue.events(run_id)
    for (const event of acknowledged) expect(log).toContainEqual(event)
    expect(await retinue.store.verify(run_id)).toBe(null)
    expect(log.filter(({ type }) => type === 'run.closed')).toHaveLength(1)
    const created = aboutChildren(log, 'agent.subagent_created')
    expect([...aboutChildren(log, 'agent.subagent_closed')].sort()).toEqual(created)
    const rows = await retinue.agents(run_id)
    expect(rows.map(({ agent_id, state }) => [agent_id, state]).sort()).toEqual(
      ['root', ...created].map((id) => [id, 'closed']).sort(),
    )
    const replay = await retinue.replay(run_id)
    expect(replay).toMatchObject({ ok: true, agents: new Set(log.map(({ agent_id }) => agent_id)).size })
    return { log, told: toldTo('root', replay.requests).map((text) => text.replaceAll(run_id, '<run>')) }
  })
}

/** Of a run that landed. Answers with what the root's model was told of its sub-agents, the same each time. */
export async function checkLanded(
  cwd: string,
  run_id: string,
  before: Checkout,
  acknowledged: readonly StoredEvent[],
  expect: ExpectStatic,
): Promise<string[]> {
  expect(await withTree(cwd, (retinue) => retinue.result(run_id))).toMatchObject({
    outcome: 'completed',
    reason: null,
    text: 'All done.',
    landing: { state: 'landed', reason: null },
  })
  expect(checkout(cwd)).toEqual({ ...before, files: landedIn(before.files) })
  const { log, told } = await checkLog(cwd, run_id, acknowledged, expect)
  expect(aboutChildren(log, 'agent.worktree_merged')).toEqual(CHILDREN)
  await checkTidy(cwd, run_id, log, expect)
  // The last is what it was told of a file that it wrote by itself. What an interrupted call had read, nobody knows.
  return told.slice(0, -1).map((text) => text.replaceAll(/^Files read: .*\n/gm, ''))
}

/** It landed once, and no worktree, branch or lock is left of it. */
export async function checkTidy(cwd: string, run_id: string, log: readonly StoredEvent[], expect: ExpectStatic) {
  expect(log.filter(({ type }) => type === 'run.landing')).toHaveLength(1)
  expect(log.filter(({ type }) => type === 'run.landed')).toHaveLength(1)
  expect(await withTree(cwd, (retinue) => retinue.worktrees())).toEqual([])
  expect(refsIn(cwd, 'private')).toEqual([`refs/retinue/${run_id}/base`, `refs/retinue/${run_id}/result`])
  expect(refsIn(cwd, 'theirs', 'refs/retinue', 'refs/heads/retinue')).toEqual([])
  await checkLeftovers(cwd, run_id, expect)
  fsck(cwd)
}

/** Nothing is left that has an owner who is dead; what cannot be known to have one goes with the next `gc`, in time. */
export async function checkLeftovers(cwd: string, run_id: string, expect: ExpectStatic, kept = 0): Promise<void> {
  const left = leftovers(cwd, run_id, kept)
  expect(left.filter((name) => !isOfChance(name))).toEqual([])
  if (left.length === 0) return
  passADay(cwd)
  await withTree(cwd, (retinue) => retinue.gc())
  expect(leftovers(cwd, run_id, kept)).toEqual([])
}

function fsck(cwd: string): void {
  execFileSync('git', [`--git-dir=${join(cwd, '.retinue/git')}`, 'fsck', '--connectivity-only', '--no-dangling'], {
    stdio: 'pipe',
  })
}

/** The sub-agents that events of a type are about, in the order of the log. */
export function aboutChildren(log: readonly StoredEvent[], type: StoredEvent['type']): string[] {
  return log.flatMap((event) =>
    event.type === type && 'sub_agent_id' in event.data ? (event.data.sub_agent_id ?? []) : [],
  )
}
