import { describe, expect, it } from 'vitest'
import { createRetinue, type Retinue, type StoredEvent } from '../../src/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { checkTreeIn } from '../support/tree-check.js'
import { DEEP, FOUR, PLAN, TREE_SETTINGS, type TreeRun } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const TREES: { name: string; run: TreeRun }[] = [
  { name: 'four sub-agents', run: FOUR },
  { name: 'subtasks that need each other', run: PLAN },
  { name: 'sub-agents of sub-agents', run: DEEP },
]

const WORKERS = [
  { name: 'one worker that works on one at a time', count: 1, concurrency: 1 },
  { name: 'one worker', count: 1, concurrency: 8 },
  { name: 'two workers', count: 2, concurrency: 4 },
]

/** A run is worked on wherever there is room: its agents may rest in between, and wait for each other a little. */
const ONLY_THERE = new Set(['agent.woken', 'agent.workspace_awaited'])

function project(run: Pick<TreeRun, 'script'>, finished: WhenFinished): string {
  return makeProject({ 'script.yaml': run.script, 'a.txt': 'alpha\nbeta\n' }, { git: true, finished })
}

/** What is in the log, but for the order in which agents that work side by side have written it. */
function written(log: readonly StoredEvent[]): string[] {
  return log.flatMap(({ agent_id, type }) => (ONLY_THERE.has(type) ? [] : `${agent_id} ${type}`)).sort()
}

/** The same run in this process, on SQLite. */
async function locally<T>(
  run: Pick<TreeRun, 'script'>,
  finished: WhenFinished,
  look: (retinue: Retinue) => Promise<T>,
): Promise<T> {
  const retinue = await createRetinue({ cwd: project(run, finished), settings: TREE_SETTINGS })
  try {
    return await look(retinue)
  } finally {
    await retinue.close()
  }
}

async function remotely(
  run: Pick<TreeRun, 'script'>,
  { count, concurrency }: { count: number; concurrency: number },
  finished: WhenFinished,
): Promise<Retinue> {
  const store = await (await sharedPostgres()).database({ finished })
  const order = { cwd: project(run, finished), store, settings: TREE_SETTINGS }
  await startWorkers(count, { ...order, concurrency }, finished)
  return openFace(order, finished)
}

describe.each(WORKERS)('on $name', (workers) => {
  it.for(TREES)('a run of $name ends as it does on SQLite', async ({ run }, { onTestFinished }) => {
    const goThrough = async (retinue: Retinue) => {
      const begun = retinue.run({ task: 'Do the work' })
      const { run_id, session_id, duration_ms, ...result } = await begun.result()
      const told = await checkTreeIn(retinue, run_id, run, [], expect)
      return { told, result, log: written(await retinue.events(run_id)) }
    }
    const far = await remotely(run, workers, onTestFinished)
    const here = await goThrough(far)
    expect(here).toEqual(await locally(run, onTestFinished, goThrough))
  })
})
