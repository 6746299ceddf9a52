import { expect, it, onTestFinished } from 'vitest'
import { createMemoryStore, createRetinue, type StoredEvent } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { dataOf } from '../support/bench.js'
import { makeProject } from '../support/project.js'

const STUCK_MS = 60_000

const step = (id: string, owns: string[], more: object = {}) => ({
  id,
  title: id,
  description: `Do ${id}`,
  owns,
  ...more,
})
const write = (path: string) => [{ calls: [{ write_file: { path, content: 'x\n' } }] }, { text: 'Done.' }]

const REST = { version: 1, goal: 'Do it', steps: [step('rest', ['c/**'])] }
const PLAN = {
  ...REST,
  ...{ on_failure: 'replan', replans: 1 },
  steps: [
    step('first', ['a/**']),
    step('second', ['a/**']),
    step('third', ['b/**']),
    step('bad', [], { checks: [{ command: 'false' }] }),
  ],
}

it('a plan whose rest is planned again integrates what is done, also behind a step that had not begun', {
  timeout: STUCK_MS * 2,
}, async () => {
  const agents = {
    a1: write('a/one.txt'),
    a2: write('b/one.txt'),
    a3: [{ text: 'Done.' }],
    a4: [{ text: JSON.stringify(REST) }],
    a5: write('c/one.txt'),
  }
  const model = createScriptedModel({ name: 'test', agents })
  /** The first goes on when the third has done its work and the last has failed. */
  const awaited = new Set(['third is done', 'bad failed'])
  let goOn = () => {}
  const turn = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const retinue = await createRetinue({
    cwd: makeProject({ 'a/a.txt': 'a\n' }, { git: true }),
    store: createMemoryStore({ clock: { now: () => Date.now() } }),
    models: modelsOf({
      name: model.name,
      window: model.window,
      generate: async (request, options) => {
        if (options.caller.agent_id === 'a1') await turn
        return model.generate(request, options)
      },
    }),
    settings: { mode: 'auto', max_concurrent: 4, delegation: { max_retries: 0 } },
  })
  onTestFinished(() => retinue.close())
  const run = retinue.executePlan(JSON.stringify(PLAN), { approve: 'yes' })
  const stuck = setTimeout(() => {
    goOn()
    run.cancel('nobody has a turn')
  }, STUCK_MS)
  onTestFinished(() => clearTimeout(stuck))
  const log: StoredEvent[] = []
  for await (const event of run) {
    log.push(event)
    if (event.type === 'agent.subagent_waiting_for_merge' && event.agent_id === 'a2') awaited.delete('third is done')
    if (event.type === 'plan.step_ended' && event.data.step === 'bad') awaited.delete('bad failed')
    if (awaited.size === 0) goOn()
  }
  const { status, steps } = await run.outcome()
  expect(status).toBe('completed')
  expect(steps.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'first completed',
    'second skipped',
    'third completed',
    'bad failed',
    'replan-1-1 completed',
    '2.rest completed',
  ])
  expect(dataOf(log, 'agent.worktree_merged').map(({ sub_agent_id }) => sub_agent_id)).toEqual(['a1', 'a2', 'a5'])
  model.assertAllUsed()
})
