import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createRetinue, type StoredEvent } from '../src/index.js'
import { createScriptedModel, modelsOf } from '../src/testing/index.js'
import { median } from './measure.js'
import { byHand } from './workspaces-by-hand.js'
import { git } from './workspaces-git.js'
import {
  checkWritten,
  makeRepository,
  ownedBy,
  restore,
  type Shape,
  type Times,
  treeIn,
  writtenBy,
} from './workspaces-work.js'

export type WorkspaceTimes = { hand: Times; ours: Times; ratio: number }

/** Children that write disjoint files in worktrees of their own, and the same git commands by hand, in turn. */
export async function workspaceTimes(folder: string, shape: Shape, rounds: number): Promise<WorkspaceTimes> {
  const cwd = join(folder, 'repository')
  mkdirSync(cwd, { recursive: true })
  await makeRepository(cwd, shape)
  const hand: Times[] = []
  const ours: Times[] = []
  const ways = [
    async () =>
      hand.push(await checked('by hand', () => byHand(cwd, join(folder, 'hand'), shape), { cwd, folder, shape })),
    async () => ours.push(await checked('ours', () => throughTheDoor(cwd, shape), { cwd, folder, shape })),
  ]
  for (let round = 0; round < rounds; round++) {
    // And they take turns in being first.
    for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
      await restore(cwd)
      // What the one has left for the disk to do is none of the other's.
      execFileSync('sync')
      await way()
    }
    const [one, other] = [hand[round] as Times, ours[round] as Times]
    if (one.tree !== other.tree) throw new Error('the two have made different trees')
    process.stderr.write(`  by hand ${one.wall_ms.toFixed(0)} ms, ours ${other.wall_ms.toFixed(0)} ms\n`)
  }
  const [byMedian, oursByMedian] = [medians(hand), medians(ours)]
  return { hand: byMedian, ours: oursByMedian, ratio: oursByMedian.wall_ms / byMedian.wall_ms }
}

function medians(times: Times[]): Times {
  const of = (pick: (one: Times) => number) => median(times.map(pick))
  return {
    wall_ms: of((one) => one.wall_ms),
    making_ms: of((one) => one.making_ms),
    integrating_ms: of((one) => one.integrating_ms),
    tree: times[0]?.tree ?? '',
  }
}

/** The folder must have the files and be, file by file, the tree that is said to be there. */
async function checked(
  who: string,
  work: () => Promise<Times>,
  { cwd, folder, shape }: { cwd: string; folder: string; shape: Shape },
): Promise<Times> {
  const times = await work()
  await checkWritten(cwd, shape)
  const index = join(folder, 'check.index')
  await rm(index, { force: true })
  if ((await treeIn(cwd, index)) !== times.tree) throw new Error(`${who}: the folder is not as the result`)
  return times
}

async function throughTheDoor(cwd: string, shape: Shape): Promise<Times> {
  const numbers = Array.from({ length: shape.children }, (_, child) => child)
  const agents = Object.fromEntries(
    numbers.map((child) => [
      `a${child + 1}`,
      [{ calls: writtenBy(child, shape).map((file) => ({ write_file: file })) }, { text: 'Done.' }],
    ]),
  )
  const model = createScriptedModel({ name: 'bench', agents })
  const store = join(cwd, '.retinue', 'bench.db')
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings: { mode: 'auto' } })
  try {
    const started = performance.now()
    const run = retinue.fanOut(
      numbers.map((child) => ({ task: `Write what belongs to ${child}`, owns: ownedBy(child) })),
    )
    const events: StoredEvent[] = []
    for await (const event of run) events.push(event)
    const { outcome, reason } = await run.result()
    const wall_ms = performance.now() - started
    if (outcome !== 'completed') throw new Error(`${outcome}: ${reason}`)
    const landed = events.find((event) => event.type === 'run.landed')
    if (landed?.type !== 'run.landed') throw new Error('nothing was landed')
    const tree = await git(cwd, ['--git-dir', join('.retinue', 'git'), 'rev-parse', `${landed.data.commit}^{tree}`])
    return { wall_ms, ...timesIn(events), tree }
  } finally {
    await retinue.close()
    await rm(join(cwd, '.retinue'), { recursive: true, force: true })
  }
}

/** A worktree is made from the moment its owner may write; integration is one at a time, so the last one is waited for. */
function timesIn(events: readonly StoredEvent[]): { making_ms: number; integrating_ms: number } {
  const admitted = new Map<string, number>()
  const ended = new Map<string, number>()
  let making_ms = 0
  let integrating_ms = 0
  let last = 0
  for (const { type, agent_id, at, data } of [...events].sort((a, b) => a.at - b.at)) {
    if (type === 'agent.subagent_admitted') admitted.set(data.sub_agent_id, at)
    if (type === 'agent.worktree_created' && admitted.has(agent_id)) making_ms += at - (admitted.get(agent_id) ?? at)
    if (type === 'agent.subagent_waiting_for_merge') ended.set(agent_id, at)
    if (type === 'agent.subagent_closed') {
      integrating_ms += at - Math.max(last, ended.get(data.sub_agent_id) ?? at)
      last = at
    }
  }
  return { making_ms, integrating_ms }
}
