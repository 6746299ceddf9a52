import fc from 'fast-check'
import { expect, it } from 'vitest'
import '../support/seed.js'
import { createMemoryStore, createRetinue, type SpawnTask } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { createTurns, type Order } from '../support/merge-turns.js'
import { git, makeProject, tree, type WhenFinished } from '../support/project.js'

const RUNS = process.env.RETINUE_FULL === '1' ? 200 : 5

const STUCK_MS = 60_000

const LINES = Array.from({ length: 9 }, (_, n) => `line ${n}`)
const FILES = { 'a.txt': 'a\n', 'shared.txt': `${LINES.join('\n')}\n`, 'lib/c.txt': 'c\n', 'd.txt': 'd\n' }

/** The second and the third change one file in different places, so that what they own overlaps. */
const WORK: { owns: string[]; call: Record<string, Record<string, string>> }[] = [
  { owns: ['a.txt'], call: { write_file: { path: 'a.txt', content: 'A\n' } } },
  { owns: ['shared.txt'], call: { edit_file: { path: 'shared.txt', old_text: 'line 0', new_text: 'first' } } },
  { owns: ['shared.txt'], call: { edit_file: { path: 'shared.txt', old_text: 'line 8', new_text: 'last' } } },
  { owns: ['lib/**'], call: { write_file: { path: 'lib/new/d.txt', content: 'new\n' } } },
  { owns: ['d.txt', 'e/**'], call: { write_file: { path: 'd.txt', content: 'D\n' } } },
]
const AGENTS = WORK.map((_, i) => `a${i + 1}`)

const INTEGRATED = {
  outcome: 'completed',
  merges: AGENTS,
  files: {
    'a.txt': 'A\n',
    'shared.txt': `${['first', ...LINES.slice(1, -1), 'last'].join('\n')}\n`,
    'lib/c.txt': 'c\n',
    'lib/new/d.txt': 'new\n',
    'd.txt': 'D\n',
  },
}

it(`the integrated tree and the order of merges are the same in ${RUNS} random orders of beginning and ending`, {
  timeout: RUNS * 20_000,
}, async () => {
  const shuffled = fc.shuffledSubarray(AGENTS, { minLength: AGENTS.length })
  const trees = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.record({ begin: shuffled, end: shuffled }), async (order) => {
      const { ended, tree_id, ...came } = await run(order)
      expect(came).toEqual(INTEGRATED)
      trees.add(tree_id)
      // It was the order of the run that was random, not what is said about it alone.
      expect(withoutThird(ended)).toEqual(withoutThird(order.end))
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect([...trees]).toHaveLength(1)
})

/** The third cannot write before the second is closed, and so ends when it can. */
function withoutThird(agents: readonly string[]): string[] {
  return agents.filter((agent) => agent !== 'a3')
}

async function run(order: Order) {
  const cleanUps: (() => void | Promise<void>)[] = []
  const finished: WhenFinished = (work) => {
    cleanUps.unshift(work)
  }
  try {
    return await work(order, finished)
  } finally {
    for (const cleanUp of cleanUps) await cleanUp()
  }
}

async function work(order: Order, finished: WhenFinished) {
  const cwd = makeProject(FILES, { git: true, finished })
  const turns = createTurns(order)
  const agents = Object.fromEntries(WORK.map(({ call }, i) => [`a${i + 1}`, [{ calls: [call] }, { text: 'Done.' }]]))
  const model = createScriptedModel({ name: 'order', agents })
  const retinue = await createRetinue({
    cwd,
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models: modelsOf({
      name: model.name,
      window: model.window,
      generate: async (request, options) => {
        const { signal } = options
        const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        await Promise.race([
          aborted,
          turns.turn(options.caller.agent_id, request.messages.length === 1 ? 'begin' : 'end'),
        ])
        return model.generate(request, options)
      },
    }),
    settings: {
      mode: 'auto',
      max_concurrent: AGENTS.length + 1,
      delegation: { max_retries: 0, budget: { wall_ms: 600_000 } },
    },
  })
  finished(() => retinue.close())
  const fanOut = retinue.fanOut(WORK.map(({ owns }, i): SpawnTask => ({ task: `Task ${i + 1}`, owns })))
  const stuck = setTimeout(() => fanOut.cancel('nobody has a turn'), STUCK_MS)
  finished(() => clearTimeout(stuck))
  const ended: string[] = []
  const merges: string[] = []
  let commit = ''
  for await (const event of fanOut) {
    turns.saw(event)
    if (event.type === 'agent.subagent_waiting_for_merge') ended.push(event.agent_id)
    if (event.type === 'agent.worktree_merged') merges.push(event.data.sub_agent_id)
    if (event.type === 'run.landed') commit = event.data.commit
  }
  const { outcome } = await fanOut.result()
  model.assertAllUsed()
  const tree_id = git(cwd, '--git-dir', '.retinue/git', 'rev-parse', `${commit}^{tree}`)
  return { outcome, merges, files: tree(cwd), ended, tree_id }
}
