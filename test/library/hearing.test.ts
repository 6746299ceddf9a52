import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { createMemoryStore, type Store } from '../../src/store/index.js'
import { makeProject } from '../support/project.js'

type Append = Parameters<Store['append']>[0]

const aborted = async (signal: AbortSignal) => signal.aborted || once(signal, 'abort')

/** A store in which appends wait for whatever `held` says. */
function holding(store: Store, held: (batch: Append) => Promise<unknown>): Store {
  const append = async (batch: Append) => {
    await held(batch)
    return store.append(batch)
  }
  return new Proxy(store, {
    get(of, key: keyof Store) {
      if (key === 'append') return append
      const part: unknown = of[key]
      return typeof part === 'function' ? part.bind(of) : part
    },
  })
}

it('a run that begins while the only other one of its process ends hears what is said to it', async () => {
  const cwd = makeProject({
    'first.yaml': 'agents: {root: [{text: "Done."}]}',
    'second.yaml': 'agents: {root: [{calls: [{run_command: {command: sleep 20}}]}, {text: "Done."}]}',
  })
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const [over, begins] = [new AbortController(), new AbortController()]
  const slow = holding(store, async ({ events }) => {
    if (events.some(({ type }) => type === 'agent.finished')) await aborted(begins.signal)
    if (events.some((event) => event.type === 'run.created' && event.data.task === 'Second')) {
      begins.abort()
      await aborted(over.signal)
    }
  })
  const [retinue, other] = await Promise.all([slow, store].map((of) => createRetinue({ cwd, store: of, env: {} })))
  if (!retinue || !other) throw new Error('there are two')
  onTestFinished(async () => void (await Promise.all([retinue.close(), other.close()])))
  const first = retinue.run({ task: 'First', model: 'scripted/first.yaml' })
  const second = retinue.run({ task: 'Second', model: 'scripted/second.yaml', mode: 'dangerous' })
  await first.result()
  over.abort()
  for await (const { type } of other.follow(second.run_id)) if (type === 'tool.called') break
  expect(await other.cancel(second.run_id, 'person', 'enough')).toMatchObject({ outcome: 'cancelled' })
})
