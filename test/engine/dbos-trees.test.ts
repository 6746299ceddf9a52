import { afterAll, describe, expect, it } from 'vitest'
import { createRetinue, type Retinue, type RunResult, type StoredEvent } from '../../src/index.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree, type WhenFinished } from '../support/project.js'
import { checkTreeIn } from '../support/tree-check.js'
import { DEEP, FOUR, PLAN, TREE_SETTINGS, type TreeRun } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const TREES: { name: string; run: TreeRun }[] = [
  { name: 'four sub-agents', run: FOUR },
  { name: 'subtasks that need each other', run: PLAN },
  { name: 'sub-agents of sub-agents', run: DEEP },
]

const write = (path: string) => [{ calls: [{ write_file: { path, content: 'x\n' } }] }, { text: 'Written.' }]

const TASKS = {
  script: JSON.stringify({
    agents: { a1: write('one.txt'), a2: [{ fail: { code: 'auth', message: 'no entry' } }], a3: write('three.txt') },
  }),
}

const step = (id: string, more: object = {}) => ({
  ...STEP,
  ...{ id, title: id, description: `Write ${id}`, owns: [`${id}/**`] },
  ...more,
})

const GOAL = {
  script: JSON.stringify({
    agents: {
      a1: [{ text: JSON.stringify(planOf({ steps: [step('one'), step('two', { depends_on: ['one'] })] })) }],
      a2: write('one/b.txt'),
      a3: write('two/b.txt'),
    },
  }),
}

const WORKERS = [
  { name: 'one worker that works on one at a time', count: 1, concurrency: 1 },
  { name: 'one worker', count: 1, concurrency: 8 },
  { name: 'two workers', count: 2, concurrency: 4 },
]

/** A run is worked on wherever there is room: its agents may rest in between, and wait for each other a little. */
const ONLY_THERE = new Set(['agent.woken', 'agent.workspace_awaited'])
/** The first event after those that whoever began the run has written. */
const TAKEN_UP = 3

function project(run: Pick<TreeRun, 'script'>, finished: WhenFinished): string {
  return makeProject({ 'script.yaml': run.script, 'a.txt': 'alpha\nbeta\n' }, { git: true, finished })
}

/**
 * What is in the log, but for the order in which agents that work side by side have written it. One that waited for a worker
 * says so when it is taken up.
 */
function written(log: readonly StoredEvent[]): string[] {
  return log
    .filter(({ seq, type }) => !ONLY_THERE.has(type) && !(type === 'agent.resumed' && seq === TAKEN_UP))
    .map(({ agent_id, type }) => `${agent_id} ${type}`)
    .sort()
}

/** Without what is another each time: ids, times and commits. */
function same({ run_id, session_id, duration_ms, ...result }: RunResult): unknown {
  return JSON.parse(
    JSON.stringify(result)
      .replaceAll(/\b[0-9a-f]{40}\b/g, '<commit>')
      .replaceAll(run_id, '<run>'),
  )
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

/** All of them have one database, and each a queue of its own. */
const cleaning: (() => void | Promise<void>)[] = []
let database: Promise<string> | null = null
afterAll(async () => {
  for (const clean of cleaning) await clean()
})

async function remotely(
  run: Pick<TreeRun, 'script'>,
  { count, concurrency }: { count: number; concurrency: number },
  finished: WhenFinished,
): Promise<Retinue> {
  database ??= sharedPostgres().then((shared) => shared.database({ finished: (clean) => cleaning.push(clean) }))
  const store = await database
  const order = { cwd: project(run, finished), store, settings: TREE_SETTINGS }
  await startWorkers(count, { ...order, concurrency }, finished)
  return openFace(order, finished)
}

describe.each(WORKERS)('on $name', (workers) => {
  it.for(TREES)('a run of $name ends as it does on SQLite', async ({ run }, { onTestFinished }) => {
    const goThrough = async (retinue: Retinue) => {
      const begun = retinue.run({ task: 'Do the work' })
      const result = await begun.result()
      const { run_id } = result
      const told = await checkTreeIn(retinue, run_id, run, [], expect)
      return { told, result: same(result), log: written(await retinue.events(run_id)) }
    }
    const far = await remotely(run, workers, onTestFinished)
    const here = await goThrough(far)
    expect(here).toEqual(await locally(run, onTestFinished, goThrough))
  })

  it('tasks that a program hands out come to the same', async ({ onTestFinished }) => {
    const goThrough = async (retinue: Retinue) => {
      const run = retinue.fanOut([{ task: 'Write' }, { task: 'Fail' }, { task: 'Write more' }])
      const results = await run.results()
      const files = tree(retinue.cwd)
      const ends = results.map(({ agent_id, success, outcome, details }) => ({ agent_id, success, outcome, details }))
      return { ends, files, log: written(await retinue.events(run.run_id)) }
    }
    const far = await goThrough(await remotely(TASKS, workers, onTestFinished))
    expect(far).toEqual(await locally(TASKS, onTestFinished, goThrough))
    expect(far.ends.map(({ success }) => success)).toEqual([true, false, true])
  })

  it('a plan is made for a goal and carried out the same', async ({ onTestFinished }) => {
    const goThrough = async (retinue: Retinue) => {
      const run = retinue.planForGoal('There are two files', { execute: true, approve: 'yes' })
      const { status, steps } = await run.outcome()
      const ends = steps.map(({ id, status }) => ({ id, status }))
      return { status, ends, files: tree(retinue.cwd), log: written(await retinue.events(run.run_id)) }
    }
    const far = await goThrough(await remotely(GOAL, workers, onTestFinished))
    expect(far).toEqual(await locally(GOAL, onTestFinished, goThrough))
    expect(far).toMatchObject({ status: 'completed', files: { 'one/b.txt': 'x\n', 'two/b.txt': 'x\n' } })
  })
})
