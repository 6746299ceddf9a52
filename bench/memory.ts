import { setTimeout as sleep } from 'node:timers/promises'
import { createMemoryStore, createRetinue } from '../src/index.js'
import { createScriptedModel, modelsOf } from '../src/testing/index.js'

/** What an agent takes that waits for its model. Needs --expose-gc to be exact. */
export async function bytesPerIdleAgent(cwd: string, agents: number): Promise<number> {
  const model = createScriptedModel({ name: 'idle', agents: { root: [{ text: 'late', delay_ms: 600_000 }] } })
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings: { max_concurrent: agents } })
  const start = async (count: number) => {
    const runs = Array.from({ length: count }, () => retinue.run({ task: 'Wait' }))
    while (model.requests.length < count) await sleep(10)
    return runs
  }
  const first = await start(10)
  const before = heap()
  const runs = await start(agents)
  const bytes = (heap() - before) / (agents - 10)
  for (const run of [...first, ...runs]) run.cancel()
  await Promise.all([...first, ...runs].map((run) => run.result()))
  await retinue.close()
  return bytes
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
