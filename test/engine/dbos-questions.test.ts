import { expect, it } from 'vitest'
import type { Person, Retinue } from '../../src/index.js'
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

async function opened(finished: WhenFinished, script = SCRIPT): Promise<Retinue & { store_url: string }> {
  const store = await (await sharedPostgres()).database({ finished })
  const order = { cwd: makeProject({ 'script.yaml': script }, { finished }), store, settings: SETTINGS }
  await startWorkers(1, order, finished)
  return Object.assign(await openFace(order, finished), { store_url: store })
}

it('a person in front of a run that workers carry out is asked, and heard', async ({ onTestFinished }) => {
  const asked: string[] = []
  const person: Person = {
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
  const face = await opened(onTestFinished)
  const result = await face.run({ task: 'Do the work', person }).result()
  expect(result).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(asked).toEqual(['Which colour?', 'may write_file'])
  expect(tree(face.cwd)['colour.txt']).toBe('blue\n')
})

it('what a run asks is answered from another process too', async ({ onTestFinished }) => {
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

it('where nobody sits in front of a run, it is refused what it would have to ask for', async ({ onTestFinished }) => {
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
