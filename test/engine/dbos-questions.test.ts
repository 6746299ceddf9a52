import { expect, it, onTestFinished } from 'vitest'
import { createHost } from '../../src/host/index.js'
import type { Person, Retinue, RetinueOptions } from '../../src/index.js'
import { retinue } from '../support/cli.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree, type WhenFinished } from '../support/project.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

/** It asks something, and then for leave. */
const SCRIPT = `
agents:
  root:
    - calls:
        - ask_user: { question: Which colour?, options: [red, blue] }
    - expect: blue
      calls:
        - write_file: { path: colour.txt, content: "blue\\n" }
    - text: All done.
`

const SETTINGS = {
  mode: 'normal' as const,
  model: { name: 'scripted/script.yaml', source: 'user' as const },
  workspace: { isolation: 'shared' as const },
}

async function opened(
  finished: WhenFinished,
  script = SCRIPT,
  seams: Pick<RetinueOptions, 'host'> = {},
): Promise<Retinue & { store_url: string }> {
  const store = await (await sharedPostgres()).database({ finished })
  const order = { cwd: makeProject({ 'script.yaml': script }, { finished }), store, settings: SETTINGS }
  await startWorkers(1, order, finished)
  return Object.assign(await openFace({ ...order, ...seams }, finished), { store_url: store })
}

/** Somebody who says yes, and what they were asked. */
function willing(): Person & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    permit: async ({ tool }) => {
      asked.push(`may ${tool}`)
      return { answer: 'allow', grant: null, note: null, by: 'person' }
    },
    answer: async ({ text }) => {
      asked.push(text)
      return 'blue'
    },
    approve: async () => null,
  }
}

it('a person in front of a run that workers carry out is asked, and heard', async () => {
  const person = willing()
  const face = await opened(onTestFinished)
  const result = await face.run({ task: 'Do the work', person }).result()
  expect(result).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(person.asked).toEqual(['Which colour?', 'may write_file'])
  expect(tree(face.cwd)['colour.txt']).toBe('blue\n')
})

it('it is heard from a machine whose clock is behind that of the worker', async () => {
  const host = createHost()
  const behind = { ...host.clock, now: () => host.clock.now() - 60_000 }
  const face = await opened(onTestFinished, SCRIPT, { host: { ...host, clock: behind } })
  const person = willing()
  const result = await face.run({ task: 'Do the work', person }).result()
  expect(result).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(person.asked).toEqual(['Which colour?', 'may write_file'])
})

it('what a person said stands until whoever asks has taken it', async () => {
  const face = await opened(onTestFinished)
  const { store } = face
  const signal = store.signal.bind(store)
  let lost = 0
  store.signal = async (given) => {
    if (given.kind !== 'answer' || lost > 0) return signal(given)
    lost += 1
    // Long ago: whoever waits for it to be taken has waited long enough.
    return { ...given, id: 0, at: 0 }
  }
  const person = willing()
  const result = await face.run({ task: 'Do the work', person }).result()
  expect(result).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(lost).toBe(1)
  expect(person.asked).toEqual(['Which colour?', 'may write_file'])
})

it('what a program says for a person and cannot be understood is a no, and is not asked again', async () => {
  const face = await opened(onTestFinished)
  const person = willing()
  const { permit } = person
  person.permit = async (...asked) => (await permit(...asked)) && ('allow' as never)
  const run = face.run({ task: 'Do the work', person })
  await run.result()
  expect(person.asked).toEqual(['Which colour?', 'may write_file'])
  const answers = (await face.events(run.run_id)).filter(({ type }) => type === 'permission.answered')
  expect(answers.map(({ data }) => data)).toMatchObject([
    { answer: 'deny', note: 'the answer to the question was not understood' },
  ])
  expect(tree(face.cwd)).not.toHaveProperty('colour.txt')
})

it('what a run asks is answered from another process too', async () => {
  const never = (_: unknown, signal: AbortSignal) =>
    new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)))
  const person: Person = { permit: never, answer: never, approve: never }
  const face = await opened(onTestFinished)
  const run = face.run({ task: 'Do the work', person })
  const asks = async (kind: string) => (await face.questions(run.run_id)).map((question) => question.kind === kind)
  const env = { RETINUE_STORE: face.store_url }
  await expect.poll(() => asks('question')).toEqual([true])
  const said = await retinue(['answer', run.run_id, '--text', 'blue'], { cwd: face.cwd, env })
  expect(said).toMatchObject({ code: 0, stderr: '' })
  await expect.poll(() => asks('permission')).toEqual([true])
  expect(await retinue(['answer', run.run_id, '--allow'], { cwd: face.cwd, env })).toMatchObject({ code: 0 })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(tree(face.cwd)['colour.txt']).toBe('blue\n')
})

it('where nobody sits in front of a run, it is refused what it would have to ask for', async () => {
  const script = `
agents:
  root:
    - calls:
        - write_file: { path: colour.txt, content: "blue\\n" }
    - expect: nobody
      text: Not written.
`
  const face = await opened(onTestFinished, script)
  const run = face.run({ task: 'Do the work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Not written.' })
  expect(tree(face.cwd)['colour.txt']).toBe(undefined)
})

const PLAN = {
  version: 1,
  goal: 'All of it',
  steps: [{ id: 'one', title: 'Look', description: 'Look.', owns: [] }],
} as const

async function planned(finished: WhenFinished, person: Partial<Person>) {
  const face = await opened(finished, 'agents: { a1: [{ text: Seen. }] }')
  const none = async () => null
  const run = face.executePlan(PLAN, {
    approve: 'ask',
    mode: 'auto',
    person: { permit: none, answer: none, ...person },
  })
  await run.result()
  return { face, run, outcome: await face.planOutcome(run.run_id) }
}

it('a plan that a person changed is what workers carry out, when it has no fault any more', async () => {
  const asked: unknown[] = []
  const changed = (agent: string | null) => ({
    ...PLAN,
    steps: [{ ...PLAN.steps[0], title: 'Look twice', ...(agent === null ? {} : { agent }) }],
  })
  const approve: Person['approve'] = async ({ plan, step, faults, preview }) => {
    asked.push([plan.steps[0]?.title, step, faults.map(({ path }) => path), preview !== null])
    return {
      answer: 'approve',
      by: 'ada',
      note: 'so',
      plan: changed(asked.length === 1 ? 'nobody-of-that-name' : null),
    }
  }
  const { outcome } = await planned(onTestFinished, { approve })
  expect(asked).toEqual([
    ['Look', null, [], true],
    ['Look', null, ['steps[0].agent'], true],
  ])
  expect(outcome).toMatchObject({ status: 'completed', steps: [{ title: 'Look twice', status: 'completed' }] })
})

it.each([
  ['cannot be asked about plans', {}],
  ['is not there', { approve: async () => null }],
  ['has a face that fails', { approve: () => Promise.reject(new Error('no terminal')) }],
])('a plan is left where the person %s', async (_, person) => {
  const { outcome } = await planned(onTestFinished, person)
  expect(outcome).toMatchObject({ status: 'left', reason: 'it was not approved: nobody is there to be asked' })
})

it('a person who is not there allows nothing and answers nothing', async () => {
  const script = `
agents:
  root:
    - calls:
        - ask_user: { question: Which colour? }
    - calls:
        - write_file: { path: colour.txt, content: "blue\\n" }
    - expect: nobody is there to be asked
      text: Not written.
`
  const face = await opened(onTestFinished, script)
  const person: Person = { permit: async () => null, answer: async () => null }
  expect(await face.run({ task: 'Do the work', person }).result()).toMatchObject({ text: 'Not written.' })
  expect(tree(face.cwd)['colour.txt']).toBe(undefined)
})

it('whoever watches gets the words of an answer when it is there', async () => {
  const words: string[] = []
  const face = await opened(onTestFinished, 'agents: { root: [{ text: All done. }] }')
  const hear = (delta: { type: string; agent_id: string; text: string }) =>
    words.push(`${delta.type} ${delta.agent_id} ${delta.text}`)
  await face.run({ task: 'Do the work', onDelta: hear }).result()
  expect(words.map((word) => word.replace('text root ', '')).join('')).toBe('All done.')
})
