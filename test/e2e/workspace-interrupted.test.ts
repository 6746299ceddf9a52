import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import type { RunResult, StoredEvent } from '../../src/index.js'
import { withTree } from '../support/tree-work.js'
import { aboutChildren, checkLeftovers, checkLog, checkUntouched } from '../support/workspace-check.js'
import { checkout, landedIn, refsIn, SCRIPT, treesIn, workspaceProject } from '../support/workspace-run.js'
import { eventsOf, runOf, workIn } from '../support/workspace-work.js'

const FULL = process.env.RETINUE_FULL === '1'
const TIMEOUT_MS = 120_000
const MERGED = { seen: { agent_id: 'root', type: 'agent.worktree_merged' } } as const

const positions = (count: number, every: number) =>
  Array.from({ length: count }, (_, i) => i + 1).flatMap((position, i) =>
    i % every === every - 1
      ? [
          { position, when: 'before' as const },
          { position, when: 'after' as const },
        ]
      : [],
  )

describe('a run in whose folder the person goes on while its process is dead', () => {
  const chosen = positions(56, FULL ? 7 : 40)

  it.concurrent.for(chosen)(
    'killed again $when the commit of event $position, keeps its result on a branch that can be applied',
    { timeout: TIMEOUT_MS },
    async (kill, { onTestFinished, expect }) => {
      const { cwd, before } = workspaceProject(onTestFinished)
      const first = await workIn(cwd, null, MERGED)
      const run_id = (await runOf(cwd)) as string
      checkUntouched(cwd, before, await eventsOf(cwd, run_id), expect)
      appendFileSync(join(cwd, 'untracked.txt'), 'and more\n')
      writeFileSync(join(cwd, 'mine.txt'), 'mine\n')
      const edited = checkout(cwd)

      const second = await workIn(cwd, run_id, kill)
      expect(checkout(cwd)).toEqual(edited)
      const third = second.result ? null : await workIn(cwd, run_id, null)
      const result = (second.result ?? third?.result) as RunResult
      const branch = `retinue/${run_id}/integration`
      expect(result).toMatchObject({
        outcome: 'completed',
        reason: null,
        text: 'All done.',
        landing: {
          state: 'kept',
          branch,
          reason: expect.stringMatching(/folder changed.*: mine\.txt, untracked\.txt$/),
        },
      })
      expect(checkout(cwd)).toEqual(edited)
      await checkLog(
        cwd,
        run_id,
        [first, second, third].flatMap((worked) => worked?.acknowledged ?? []),
        expect,
      )
      expect(refsIn(cwd, 'theirs', 'refs/heads/retinue')).toEqual([`refs/heads/${branch}`])
      expect(refsIn(cwd, 'private', 'refs/heads')).toEqual([`refs/heads/${branch}`])
      await checkLeftovers(cwd, run_id, expect)

      await withTree(cwd, (retinue) => retinue.apply(run_id))
      expect(checkout(cwd)).toEqual({ ...edited, files: landedIn(edited.files) })
      expect(refsIn(cwd, 'theirs', 'refs/heads/retinue')).toEqual([])
      expect(refsIn(cwd, 'private', 'refs/heads')).toEqual([])
    },
  )
})

describe('a run that is cancelled after its process was killed', () => {
  const chosen = positions(110, FULL ? 10 : 60)

  it.concurrent.for(chosen)(
    '$when the commit of event $position, has all work on branches and nothing else',
    { timeout: TIMEOUT_MS },
    async (kill, { onTestFinished, expect }) => {
      const { cwd, before } = workspaceProject(onTestFinished)
      const killed = await workIn(cwd, null, kill)
      const run_id = await runOf(cwd)
      if (run_id === null) return
      const written = finishedWrites(await eventsOf(cwd, run_id))
      const result = await withTree(cwd, (retinue) => retinue.cancel(run_id, 'person', 'enough'))
      expect(result).toMatchObject({ outcome: 'cancelled' })
      const { log } = await checkLog(cwd, run_id, killed.acknowledged, expect)
      expect(checkout(cwd)).toEqual(before)

      const kept = keptBy(log)
      const branches = [...kept.map(({ branch }) => branch), result.landing?.branch ?? []].flat().sort()
      const refs = branches.map((branch) => `refs/heads/${branch}`)
      expect(refsIn(cwd, 'theirs', 'refs/heads/retinue')).toEqual(refs)
      expect(refsIn(cwd, 'private', 'refs/heads')).toEqual(refs)
      expect(treesIn(cwd)).toEqual(kept.map(({ path }) => path).sort())
      await checkLeftovers(cwd, run_id, expect, kept.length)
      if (refs.length === 0) expect(refsIn(cwd, 'theirs', 'refs/retinue')).toEqual([])
      const there = branches.map((branch) => filesOn(cwd, branch))
      for (const [path, text] of written) expect(there.map((files) => files.get(path))).toContain(text)
    },
  )
})

describe('a worktree that the person removed while the process was dead', () => {
  const script = SCRIPT.replace('"[a2: OK]"', '"[a2: ERROR]"').replace('delay_ms: 100', 'delay_ms: 3000')
  const slow = script.replace('text: Second.', 'delay_ms: 3000\n      text: Second.')

  it.concurrent.for([
    { when: 'at work', script: slow, type: 'tool.finished' },
    { when: 'waiting for its merge', script, type: 'agent.subagent_waiting_for_merge' },
  ] as const)(
    'fails the sub-agent that was $when, and the others go on',
    { timeout: TIMEOUT_MS },
    async ({ script: played, type }, context) => {
      const { onTestFinished, expect } = context
      const { cwd, before } = workspaceProject(onTestFinished, played)
      const killed = await workIn(cwd, null, { seen: { agent_id: 'a2', type } })
      const run_id = (await runOf(cwd)) as string
      rmSync(join(cwd, '.retinue/worktrees', run_id, 'a2'), { recursive: true })
      const resumed = await workIn(cwd, run_id, null)
      expect(resumed.result).toMatchObject({ outcome: 'completed', reason: null, landing: { state: 'landed' } })
      const { 'two/new.txt': _, ...files } = landedIn(before.files)
      expect(checkout(cwd)).toEqual({ ...before, files })
      const { log } = await checkLog(cwd, run_id, [...killed.acknowledged, ...resumed.acknowledged], expect)
      expect(aboutChildren(log, 'agent.worktree_merged')).toEqual(['a1', 'a3', 'a4'])
      const closed = log.find((event) => event.type === 'agent.subagent_closed' && event.data.sub_agent_id === 'a2')
      expect(closed?.data).toMatchObject({
        final_status: 'failed',
        result: { outcome: 'error', cause: 'worktree', receipt: { kept: null, merged: null } },
        close_reason: expect.stringMatching(/worktree.*; its work is lost$/),
      })
      expect(refsIn(cwd, 'theirs', 'refs/heads/retinue')).toEqual([])
      expect(refsIn(cwd, 'private', 'refs/heads')).toEqual([])
      await checkLeftovers(cwd, run_id, expect)
    },
  )
})

/** Texts that agents had written when a process died, by path. */
function finishedWrites(log: readonly StoredEvent[]): Map<string, string> {
  const written = new Map<string, string>()
  const after = landedIn({})
  for (const event of log) {
    if (event.type !== 'tool.finished' || event.data.status !== 'ok') continue
    for (const path of event.data.files_changed) {
      // Two agents change this one after the other.
      if (path !== 'one/old.txt') written.set(path, after[path] as string)
    }
  }
  return written
}

function keptBy(log: readonly StoredEvent[]): { branch: string; path: string | null }[] {
  return log.flatMap((event) => {
    const kept = event.type === 'agent.subagent_closed' ? event.data.result.receipt?.kept : null
    return kept ? [kept] : []
  })
}

function filesOn(cwd: string, branch: string): Map<string, string> {
  const run = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' })
  const names = run('ls-tree', '-r', '-z', '--name-only', branch).split('\0').filter(Boolean)
  return new Map(names.map((name) => [name, run('show', `${branch}:${name}`)]))
}

describe("the root's own worktree, removed by the person while the process was dead", () => {
  const script = `
agents:
  root:
    - calls: [{ spawn: { task: Write, owns: ["one/**"] } }]
    - calls: [{ spawn_await: { job_ids: "*" } }]
    - calls: [{ write_file: { path: summary.txt, content: "all of it\\n" } }]
    - text: "All done."
  a1:
    - calls: [{ write_file: { path: one/new.txt, content: "new\\n" } }]
    - text: First.
`
  const isWrite = ({ type, agent_id, data }: StoredEvent) =>
    type === 'tool.called' && agent_id === 'root' && 'tool' in data && data.tool === 'write_file'
  const isClosed = ({ type }: StoredEvent) => type === 'agent.subagent_closed'

  it.concurrent.for([
    { when: 'during a call of the root', last: isWrite },
    { when: 'after a merge', last: isClosed },
  ])(
    'ends the run $when: nothing is written into the folder, and what was merged can be applied',
    { timeout: TIMEOUT_MS },
    async ({ last }, { onTestFinished, expect }) => {
      const probe = workspaceProject(onTestFinished, script)
      await workIn(probe.cwd, null, null)
      const { position } = (await eventsOf(probe.cwd, (await runOf(probe.cwd)) as string)).find(last) as StoredEvent

      const { cwd, before } = workspaceProject(onTestFinished, script)
      await workIn(cwd, null, { position, when: 'after' })
      const run_id = (await runOf(cwd)) as string
      rmSync(join(cwd, '.retinue/worktrees', run_id), { recursive: true })
      const { result } = await workIn(cwd, run_id, null)
      expect(result).toMatchObject({ outcome: 'error', cause: 'worktree', landing: { state: 'kept' } })
      expect(checkout(cwd)).toEqual(before)
      await withTree(cwd, (retinue) => retinue.apply(run_id))
      expect(readFileSync(join(cwd, 'one/new.txt'), 'utf8')).toBe('new\n')
    },
  )
})
