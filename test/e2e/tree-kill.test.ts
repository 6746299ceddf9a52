import { describe, expect, it } from 'vitest'
import { retinue } from '../support/cli.js'
import { running } from '../support/processes.js'
import { checkTree, finishedIn } from '../support/tree-check.js'
import { DEEP, FOUR, PLAN, type TreeRun, treeProject } from '../support/tree-run.js'
import { modelCalls, type Worked, withTree, workTree } from '../support/tree-work.js'

const FULL = process.env.RETINUE_FULL === '1'

/**
 * Events of an undisturbed run; the sweeps check that the numbers are right. `every`: sampled in the quick suite, and
 * in the full one; the first is swept whole there.
 */
const SWEEPS: { name: string; tree: TreeRun; events: number; every: { quick: number; full: number } }[] = [
  { name: 'four sub-agents', tree: FOUR, events: 80, every: { quick: 31, full: 1 } },
  { name: 'the subtasks of a plan', tree: PLAN, events: 48, every: { quick: 40, full: 3 } },
  { name: 'sub-agents of sub-agents', tree: DEEP, events: 72, every: { quick: 75, full: 5 } },
]

async function runOf(cwd: string): Promise<string | null> {
  return withTree(cwd, async (known) => (await known.runs())[0]?.run_id ?? null)
}

/** What an undisturbed run's model was told, made once for each kind of run. */
function undisturbed(tree: TreeRun) {
  let made: Promise<{ worked: Worked; told: string[]; calls: Map<string, number> }> | null = null
  const make = async () => {
    const clean: (() => void | Promise<void>)[] = []
    const cwd = treeProject(tree.script, (work) => clean.push(work))
    try {
      const worked = await workTree(cwd, null, null)
      const told = await checkTree(cwd, (await runOf(cwd)) as string, tree, worked.acknowledged, expect)
      return { worked, told, calls: perAgent(modelCalls(cwd)) }
    } finally {
      for (const work of clean) await work()
    }
  }
  return () => {
    made ??= make()
    return made
  }
}

function perAgent(calls: readonly { agent_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { agent_id } of calls) counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1)
  return counts
}

describe.each(SWEEPS)('a run of $name, killed with SIGKILL and resumed', ({ tree, events, every }) => {
  const peaceful = undisturbed(tree)

  it('is, undisturbed, the run that the sweep counts on', async () => {
    const { worked } = await peaceful()
    expect(worked.acknowledged).toHaveLength(events)
  })

  const kills = Array.from({ length: events }, (_, i) => i + 1).flatMap((position) => [
    { position, when: 'before' as const },
    { position, when: 'after' as const },
  ])
  const step = FULL ? every.full : every.quick
  const chosen = kills.filter((_, i) => i % step === 0 || i === kills.length - 1)

  it.concurrent.for(chosen)(
    '$when the commit of event $position, ends as if nothing had happened',
    async (kill, { onTestFinished, expect }) => {
      const { told, calls } = await peaceful()
      const cwd = treeProject(tree.script, onTestFinished)
      const killed = await workTree(cwd, null, kill)
      expect(killed.result).toBe(null)
      const run_id = await runOf(cwd)
      if (run_id === null) {
        // Nothing was ever acknowledged: there is no run, and nothing to resume.
        expect(killed.acknowledged).toEqual([])
        return
      }
      const finished = finishedIn(await withTree(cwd, (known) => known.events(run_id)))
      const resumed = await workTree(cwd, run_id, null)
      expect(resumed.result).toMatchObject({ outcome: 'completed', text: 'All done.' })
      expect(await checkTree(cwd, run_id, tree, [...killed.acknowledged, ...resumed.acknowledged], expect)).toEqual(
        told,
      )
      const made = modelCalls(cwd)
      const again = made.filter(({ pid, agent_id }) => pid === resumed.pid && finished.includes(agent_id))
      expect(again).toEqual([])
      // Only the call that was under way when the process died is made a second time.
      for (const [agent_id, count] of perAgent(made)) {
        expect(count).toBeGreaterThanOrEqual(calls.get(agent_id) as number)
        expect(count).toBeLessThanOrEqual((calls.get(agent_id) as number) + 1)
      }
    },
  )

  it('again and again, at another place each time, still ends the same', async () => {
    const { told } = await peaceful()
    const cwd = treeProject(tree.script)
    const first = await workTree(cwd, null, { position: 6, when: 'after' })
    const run_id = (await runOf(cwd)) as string
    const acknowledged = [...first.acknowledged]
    let kills = 1
    // Each resume begins with events of its own, one for each agent that was at work, and gets a little further.
    for (let position = 9; ; position += 2) {
      const finished = finishedIn(await withTree(cwd, (known) => known.events(run_id)))
      const worked = await workTree(cwd, run_id, { position, when: position % 4 === 1 ? 'before' : 'after' })
      acknowledged.push(...worked.acknowledged)
      const mine = modelCalls(cwd).filter(({ pid }) => pid === worked.pid)
      expect(mine.filter(({ agent_id }) => finished.includes(agent_id))).toEqual([])
      if (worked.result) break
      kills += 1
    }
    expect(kills).toBeGreaterThanOrEqual(3)
    expect(await checkTree(cwd, run_id, tree, acknowledged, expect)).toEqual(told)
    expect((await retinue(['replay', run_id], { cwd })).code).toBe(0)
  }, 120_000)
})

describe('a gate that is under way', () => {
  it('when the process is killed is made again, and its sub-agent is closed once', async () => {
    const mark = `36.${process.pid}`
    const check = `echo begun >> gate.log; test $(wc -l < gate.log) -gt 1 || sleep ${mark}; grep -q alpha a.txt`
    const gated: TreeRun = {
      script: `
agents:
  root:
    - calls:
        - spawn_agent: { task: Read it, checks: [${JSON.stringify(check)}] }
        - spawn_agent: { task: Read it too, checks: ["false"] }
    - expect: { contains: ["[COMPLETED]", "[ERROR] gate_failed"] }
      text: All done.
  "a*":
    - text: Read.
`,
      ends: { a1: 'completed', a2: 'gate_failed' },
      files: { 'a.txt': 'alpha\nbeta\n', 'gate.log': 'begun\nbegun\n' },
    }
    const cwd = treeProject(gated.script)
    const killed = await workTree(cwd, null, { file: 'gate.log' })
    expect(killed.result).toBe(null)
    await expect.poll(() => running('sleep', mark), { timeout: 100_000 }).toEqual([])
    const run_id = (await runOf(cwd)) as string
    const before = await withTree(cwd, (known) => known.events(run_id))
    expect(before.filter(({ type }) => type === 'agent.gate_started')).not.toEqual([])
    const resumed = await workTree(cwd, run_id, null)
    await checkTree(cwd, run_id, gated, [...killed.acknowledged, ...resumed.acknowledged], expect)
    const again = modelCalls(cwd).filter(({ pid, agent_id }) => pid === resumed.pid && agent_id !== 'root')
    expect(again.map(({ agent_id }) => agent_id)).toEqual(['a1', 'a2'].filter((id) => !finishedIn(before).includes(id)))
  }, 60_000)
})
