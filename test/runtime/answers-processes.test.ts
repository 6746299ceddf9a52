import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createRetinue, type Retinue } from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { makeProject, tree } from '../support/project.js'

const ASKER = fileURLToPath(new URL('../support/asker.mjs', import.meta.url))
const ALLOW = { kind: 'permission', agent_id: 'root', call_id: 'c1', answer: 'allow' } as const
const SCRIPT = JSON.stringify({
  agents: { root: [{ calls: [{ write_file: { path: 'a.txt', content: 'x\n' } }] }, { text: 'Done.' }] },
})

/** Another process that works a run, with nobody who would answer. */
async function asker(cwd: string, run_id = '-') {
  const child = spawn(process.execPath, [ASKER, cwd, run_id], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => String((await said.next()).value)
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { run_id: await next(), next, kill }
}

/** When it has asked so often. */
async function hasAsked(retinue: Retinue, run_id: string, times: number): Promise<void> {
  let asked = 0
  for await (const event of retinue.follow(run_id)) if (event.type === 'permission.asked' && ++asked === times) return
}

async function project() {
  const cwd = makeProject({ 'script.yaml': SCRIPT })
  const retinue = await createRetinue({ cwd })
  onTestFinished(() => retinue.close())
  return { cwd, retinue }
}

it('a run in another process hears the answer', async () => {
  const { cwd, retinue } = await project()
  const other = await asker(cwd)
  await hasAsked(retinue, other.run_id, 1)
  await retinue.answer(other.run_id, ALLOW, 'alice')
  expect(JSON.parse(await other.next())).toMatchObject({ outcome: 'completed', files_changed: ['a.txt'] })
  expect(tree(cwd)).toMatchObject({ 'a.txt': 'x\n' })
})

it('one that is killed while it asks is told nothing, asks again when it is resumed, and hears that answer', async () => {
  const { cwd, retinue } = await project()
  const first = await asker(cwd)
  const { run_id } = first
  await hasAsked(retinue, run_id, 1)
  await first.kill()
  await expect(retinue.answer(run_id, ALLOW, 'alice')).rejects.toMatchObject({ code: 'held' })
  const second = await asker(cwd, run_id)
  await hasAsked(retinue, run_id, 2)
  expect(await retinue.questions(run_id)).toMatchObject([{ kind: 'permission', call_id: 'c1' }])
  expect(tree(cwd)).not.toHaveProperty('a.txt')
  await retinue.answer(run_id, ALLOW, 'bob')
  expect(JSON.parse(await second.next())).toMatchObject({ outcome: 'completed' })
  const log = await retinue.events(run_id)
  expect(dataOf(log, 'permission.answered').map(({ by }) => by)).toEqual(['bob'])
})

it('one that is killed before it hears the answer keeps nobody waiting', async () => {
  const { cwd, retinue } = await project()
  const other = await asker(cwd)
  await hasAsked(retinue, other.run_id, 1)
  const signal = retinue.store.signal.bind(retinue.store)
  retinue.store.signal = async (given) => {
    await other.kill()
    return signal(given)
  }
  await expect(retinue.answer(other.run_id, ALLOW, 'alice')).rejects.toMatchObject({
    code: 'held',
    message: expect.stringContaining(`retinue resume ${other.run_id}`),
  })
})
