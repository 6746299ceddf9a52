import { DBOSClient } from '@dbos-inc/dbos-sdk'
import { expect, it } from 'vitest'
import { databaseOf } from '../../src/engine/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const write = (path: string) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })

/** The second sub-agent is done long before the first, which has one of its own, and has to wait for it to be joined. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      {
        calls: [
          { spawn_agent: { task: 'Take your time', owns: ['one/**'] } },
          { spawn_agent: { task: 'Be quick', owns: ['two/**'] } },
        ],
      },
      { text: 'Done.' },
    ],
    a1: [write('one/a.txt'), { calls: [{ spawn_agent: { task: 'Look' } }] }, { text: 'Written.' }],
    'a1.1': [{ delay_ms: 1500, text: 'Seen.' }],
    a2: [write('two/a.txt'), { text: 'Written.' }],
  },
})

it('a parent rests while one that has ended waits for another, and gives others its place', async () => {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': SCRIPT }, { git: true })
  await startWorkers(1, { cwd, store, settings: TREE_SETTINGS, concurrency: 1 })
  const face = await openFace({ cwd, store, settings: TREE_SETTINGS })
  const run = face.run({ task: 'Go' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(tree(cwd)).toMatchObject({ 'one/a.txt': 'x\n', 'two/a.txt': 'x\n' })
  // Twice somebody asks to write, twice somebody has ended: it is woken for that, and for nothing else.
  const woken = (await face.events(run.run_id)).filter(
    ({ agent_id, type }) => agent_id === 'root' && type === 'agent.woken',
  )
  expect(woken.length).toBeLessThanOrEqual(4)
})

/** Each with a kilobyte of its own: what is said again of all of them would be most of the log. */
const TASKS = Array.from({ length: 40 }, (_, index) => ({ task: `Look at ${index} ${'x'.repeat(1024)}` }))

it('what is handed out is in the log once, however often the one that hands it out rests', async () => {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': JSON.stringify({ agents: { 'a*': [{ text: 'Seen.' }] } }) })
  // Nobody else is worked on before it rests.
  await startWorkers(1, { cwd, store, settings: TREE_SETTINGS, concurrency: 1 })
  const face = await openFace({ cwd, store, settings: TREE_SETTINGS })
  const run = face.fanOut(TASKS, { maxConcurrent: 8 })
  expect((await run.results()).filter(({ success }) => success)).toHaveLength(TASKS.length)
  const log = (await face.events(run.run_id)).filter(({ agent_id }) => agent_id === 'root')
  const count = (wanted: string) => log.filter(({ type }) => type === wanted).length
  expect(count('agent.woken')).toBeGreaterThanOrEqual(TASKS.length / 8)
  // A worker that was too slow to keep it is another matter: then a call was cut short.
  const times = 1 + count('agent.resumed')
  expect(count('tool.called')).toBeLessThanOrEqual(times)
  // It is the run's task too, the agent's, and the answer of the program. Sub-agents have theirs in their own contracts.
  const own = log.filter(({ type }) => !type.startsWith('agent.subagent_'))
  expect(JSON.stringify(own).length).toBeLessThan((4 + times) * JSON.stringify(TASKS).length)
})

/** The root can have no worktree, so that nobody below it may write. One that only looks takes longer than all that. */
const REFUSED = JSON.stringify({
  agents: {
    root: [{ calls: [{ spawn_agent: { task: 'Have it done', profile: 'lead' } }] }, { text: 'Done.' }],
    a1: [{ calls: [{ spawn_agent: { task: 'Write' } }, { spawn_agent: { task: 'Look' } }] }, { text: 'Had it done.' }],
    'a1.1': [write('a.txt'), { text: 'Written.' }],
    'a1.2': [{ delay_ms: 4000, text: 'Seen.' }],
  },
})

it('one that was not let write rests as others do while it waits for something else', async () => {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': REFUSED }, { git: true })
  const settings = { ...TREE_SETTINGS, workspace: { setup: 'exit 3' } }
  await startWorkers(1, { cwd, store, settings })
  const face = await openFace({ cwd, store, settings })
  const run = face.run({ task: 'Go' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  const log = await face.events(run.run_id)
  const at = (agent_id: string, type: string) =>
    log.findIndex((event) => event.agent_id === agent_id && event.type === type)
  expect(at('a1.1', 'agent.worktree_failed')).toBeGreaterThan(0)
  // From when the one that wanted to write is closed until the other has ended. It may be looked at by the one above it.
  const between = log.slice(at('a1', 'agent.subagent_closed'), at('a1.2', 'agent.subagent_waiting_for_merge'))
  const woken = between.filter(({ agent_id, type }) => agent_id === 'a1' && type === 'agent.woken')
  expect(woken.length).toBeLessThanOrEqual(2)
})

it('a deadline that was set for an earlier rest wakes nobody', async ({ onTestFinished }) => {
  const store = await (await sharedPostgres()).database()
  const agents = {
    root: [{ calls: [{ spawn_agent: { task: 'Look' } }] }, { text: 'Done.' }],
    a1: [{ delay_ms: 60_000, text: 'Seen.' }],
  }
  const cwd = makeProject({ 'script.yaml': JSON.stringify({ agents }) })
  const [worker] = await startWorkers(1, { cwd, store, settings: TREE_SETTINGS })
  const face = await openFace({ cwd, store, settings: TREE_SETTINGS })
  const { url, schema } = databaseOf(store)
  const client = await DBOSClient.create({ systemDatabaseUrl: url, systemDatabaseSchemaName: schema })
  onTestFinished(() => client.destroy())
  const run = face.run({ task: 'Go' })
  await worker?.appended('agent.subagent_started', 'a1')
  const [first] = await client.listWorkflows({ workflow_id_prefix: `${run.run_id}/root/`, limit: 1 })
  if (!first?.queueName) throw new Error('nobody was asked to work on it')
  expect(await client.retrieveWorkflow(first.workflowID).getResult()).toBe('rests')
  const { workflowName, queueName, applicationVersion: appVersion = '' } = first
  const late = { workflowName, queueName, appVersion, queuePartitionKey: run.run_id }
  const stale = { ...late, workflowID: `${run.run_id}/root/deadline-0` }
  await (await client.enqueue(stale, run.run_id, 'root')).getResult()
  expect((await face.events(run.run_id)).filter(({ type }) => type === 'agent.woken')).toEqual([])
  run.cancel('enough')
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
})
