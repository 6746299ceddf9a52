import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtinTools } from '../../src/tools/index.js'
import { lines, retinue } from '../support/cli.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPT = JSON.stringify({
  agents: {
    root: [{ calls: [{ spawn_agent: { task: 'Compute', label: 'gpu' } }] }, { text: 'Done.' }],
    'a*': [{ text: 'Computed.' }],
  },
})
const RUN = ['--model', 'scripted/s.yaml']

async function place(files: Record<string, string> = {}) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': SCRIPT, ...files })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos', XDG_CONFIG_HOME: join(cwd, 'config') }
  return { store, cwd, env }
}

it('what a worker has and keeps to is listed, told and part of its health', async () => {
  const { store, cwd, env } = await place()
  const args = ['--concurrency', '2', '--labels', 'gpu, office', '--at-once', '6', '--per-run', '3', '--health', '0']
  const worker = await workerProcess(cwd, store, { args })
  const told = { concurrency: 2, labels: ['gpu', 'office'], at_once: 6, per_run: 3 }
  const started = await worker.until('started')
  expect(started).toMatchObject({
    ...told,
    text: expect.stringContaining(`works in ${cwd} on 2 agents at once, with the labels gpu, office; its health`),
  })
  expect(await (await fetch(`${started.health}/health`)).json()).toMatchObject({ ok: true, ...told })
  expect(lines((await retinue(['workers', '--json'], { cwd, env })).stdout)).toMatchObject([told])
  expect((await retinue(['workers'], { cwd, env })).stdout).toMatch(
    new RegExp(
      `process \\d+ on ${hostname()}, 2 agents at once, the labels gpu, office, at most 6 on all workers, at most 3 of one run, started just now`,
    ),
  )
  const doctor = await retinue(['doctor', '--json'], { cwd, env: { ...env, OPENAI_API_KEY: 'k' } })
  expect(JSON.parse(doctor.stdout)).toContainEqual({
    ...{ topic: 'workers', state: 'ok', text: '1 worker on 1 machine, with the labels gpu, office', advice: null },
  })
  const other = await workerProcess(cwd, store, { args: ['--per-run', '3'] })
  await expect
    .poll(() => other.told.filter(({ type }) => type === 'note'))
    .toMatchObject([
      {
        text: 'Other workers of this folder were told 6 for all agents at work at once; from now on it is no limit',
      },
    ])
  // What holds is shown of all of them, and the next that says the same changes nothing.
  const shared = async () => lines((await retinue(['workers', '--json'], { cwd, env })).stdout)
  expect(await shared()).toMatchObject([{ at_once: null, per_run: 3 }, { at_once: null }])
  const health = async () => (await fetch(`${started.health}/health`)).json()
  await expect.poll(health).toMatchObject({ at_once: null, per_run: 3 })
  const third = await workerProcess(cwd, store, { args: ['--per-run', '3'] })
  await third.until('started')
  expect(third.told.filter(({ type }) => type === 'note')).toEqual([])
  // Of a process on this machine it is known at once that it is gone.
  for (const gone of [other, third]) {
    gone.kill('SIGKILL')
    await gone.ended
  }
  expect(await shared()).toMatchObject([{ id: started.id }])
})

it('an agent for which nobody has the label waits, and that is said', async () => {
  const { store, cwd, env } = await place()
  await workerProcess(cwd, store)
  const id = (await retinue([...RUN, '--detach', 'Do it'], { cwd, env })).stdout.trim()
  const shown = async () => (await retinue(['show', id], { cwd, env })).stdout
  await expect.poll(shown, { timeout: 60_000 }).toContain('waits for a worker with the label gpu')
  const doctor = await retinue(['doctor', '--json'], { cwd, env: { ...env, OPENAI_API_KEY: 'k' } })
  expect(JSON.parse(doctor.stdout)).toContainEqual({
    topic: 'workers',
    state: 'note',
    text: '1 agent waits for a worker with the label gpu, and none is there',
    advice: 'Start one on a machine that has it: retinue worker --labels gpu',
  })
  const watched = retinue(['watch', id], { cwd, env })
  await workerProcess(cwd, store, { args: ['--labels', 'gpu'] })
  expect((await watched).code).toBe(0)
  expect(await shown()).toContain('with the label gpu')
})

it('what the own configuration says holds, and options stand before it', async () => {
  const workers = 'workers: { concurrency: 5, labels: [gpu], at_once: 9, per_run: 2 }\n'
  const { store, cwd, env } = await place({ 'config/retinue/config.yaml': workers })
  const said = { concurrency: 5, labels: ['gpu'], at_once: 9, per_run: 2 }
  expect(await (await workerProcess(cwd, store, { env })).until('started')).toMatchObject(said)
  const args = ['--labels', 'office', '--concurrency', '1']
  expect(await (await workerProcess(cwd, store, { env, args })).until('started')).toMatchObject({
    ...{ ...said, concurrency: 1, labels: ['office'] },
  })
})

describe('it is refused', () => {
  it.each([
    ['--labels', 'GPU'],
    ['--labels', 'gpu,,office'],
    ['--labels', 'x'.repeat(41)],
    ['--labels', Array.from({ length: 17 }, (_, i) => `l${i}`).join(',')],
    ['--at-once', '0'],
    ['--per-run', '1001'],
  ])('as an option: %s %s', async (...args) => {
    expect((await retinue(['worker', ...args], { cwd: makeProject({}) })).code).toBe(2)
  })

  it("in a project's file", async () => {
    const cwd = makeProject({ 's.yaml': SCRIPT, 'retinue.yaml': 'workers: { labels: [gpu] }\n' })
    const { code, stderr } = await retinue([...RUN, '-p', 'Do it'], { cwd })
    expect([code, stderr]).toEqual([52, expect.stringContaining('workers is for your own file')])
  })
})

describe('where agents run in the process that starts them', () => {
  const PROFILE = 'profiles: { computer: { label: gpu } }\n'
  const script = JSON.stringify({
    agents: {
      root: [
        { calls: [{ spawn_agent: { task: 'Compute', profile: 'computer' } }] },
        { expect: { contains: ['It needs a worker with the label gpu'] }, text: 'Refused.' },
      ],
    },
  })

  it('one that needs a label is refused, with the reason', async () => {
    const cwd = makeProject({ 's.yaml': script, 'retinue.yaml': PROFILE })
    const ended = await retinue([...RUN, '-p', 'Do it'], { cwd })
    expect([ended.code, ended.stdout]).toEqual([0, 'Refused.\n'])
    const root = await retinue([...RUN, '-p', '--agent', 'computer', 'Do it'], { cwd })
    expect([root.code, root.stderr]).toEqual([
      42,
      'retinue: It needs a worker with the label gpu, and agents run in this process: use the engine dbos, or, if this machine has what it means, list gpu under workers.labels in your own configuration\n',
    ])
  })

  it.each([
    ['spawn', { spawn: { task: 'Compute', label: 'gpu' } }],
    ['spawn_agent', { spawn_agent: { task: 'Compute', label: 'gpu' } }],
    ['delegate_task', { delegate_task: { plan: 'Compute', subtasks: [{ task: 'Compute', label: 'gpu' }] } }],
  ])(
    '%s that asks for one is refused, with the reason, though no model is told that it could ask',
    async (name, call) => {
      const refused = { expect: { contains: ['It needs a worker with the label gpu'] }, text: 'Refused.' }
      const cwd = makeProject({ 's.yaml': JSON.stringify({ agents: { root: [{ calls: [call] }, refused] } }) })
      const ended = await retinue([...RUN, '--output-format', 'stream-json', '-p', 'Do it'], { cwd })
      const events = lines(ended.stdout) as { type: string }[]
      expect([ended.code, events.at(-1)]).toMatchObject([0, { text: 'Refused.' }])
      expect(events.filter(({ type }) => type.startsWith('agent.subagent'))).toEqual([])
      const tool = builtinTools().find((one) => one.name === name)
      expect(JSON.stringify(tool?.parameters())).not.toMatch(/label|untold/)
    },
  )

  it('a plan with such a step is not begun', async () => {
    const plan = 'version: 1\ngoal: Compute\nsteps:\n  - description: Compute it\n    label: gpu\n'
    const cwd = makeProject({ 's.yaml': script, 'p.yaml': plan })
    const { code, stdout, stderr } = await retinue(['plan', 'check', 'p.yaml'], { cwd })
    expect([code, stdout + stderr]).toEqual([
      ...[42, expect.stringMatching(/p\.yaml:5.*It needs a worker with the label gpu/)],
    ])
    const wrong = makeProject({ 'p.yaml': plan.replace('gpu', 'GPU') })
    const read = await retinue(['plan', 'check', 'p.yaml'], { cwd: wrong })
    expect([read.code, read.stdout + read.stderr]).toEqual([
      ...[42, expect.stringMatching(/p\.yaml:5.*"GPU" is none: a label has at most 40/)],
    ])
  })

  it('unless the person says that this machine has it', async () => {
    const own = 'workers: { labels: [gpu] }\n'
    const cwd = makeProject({ 's.yaml': SCRIPT, 'config/retinue/config.yaml': own })
    const ended = await retinue([...RUN, '-p', 'Do it'], { cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config') } })
    expect([ended.code, ended.stdout]).toEqual([0, 'Done.\n'])
  })
})
