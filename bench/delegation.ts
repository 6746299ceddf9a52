import { setTimeout as sleep } from 'node:timers/promises'
import { createRetinue, type Model } from '../src/index.js'
import { createModels } from '../src/models/index.js'
import { modelsOf } from '../src/testing/index.js'
import { measure, type Sample } from './measure.js'

/** What sub-agents cost: `children` of them at once for one program, as many at work as `at_once`. */
export type TreeCase = { children: number; repeat: number; at_once: number }

export type TreeSample = Sample & { peak_bytes: number; prompt_tokens: number }

export async function tree(url: string, cwd: string, store: string, shape: TreeCase): Promise<TreeSample> {
  const { children, repeat, at_once } = shape
  const providers = { loop: { type: 'openai-compatible' as const, base_url: url } }
  const retinue = await createRetinue({
    cwd,
    store,
    models: createModels({ env: {}, providers }),
    settings: { max_concurrent: at_once, tools: ['read_file'], model: { name: 'loop/m', source: 'user' } },
  })
  const before = process.memoryUsage().heapUsed
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, 20)
  let last = ''
  try {
    const sample = await measure(async () => {
      for (let i = 0; i < repeat; i++) {
        const tasks = Array.from({ length: children }, () => ({ task: 'Read the files' }))
        const run = retinue.fanOut(tasks)
        const failed = (await run.results()).find(({ success }) => !success)
        if (failed) throw new Error(`${failed.outcome}: ${failed.error}`)
        last = run.run_id
      }
    })
    const asked = (await retinue.events(last)).find(
      ({ type, agent_id }) => type === 'model.requested' && agent_id === 'a1',
    )
    const prompt_tokens = asked?.type === 'model.requested' ? asked.data.estimated_tokens : 0
    return { ...sample, peak_bytes: peak - before, prompt_tokens }
  } finally {
    clearInterval(watch)
    await retinue.close()
  }
}

const USAGE = { input_tokens: 900, output_tokens: 20, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

/** How long many sub-agents take whose model needs `delay_ms` for each answer, and how long they would at best. */
export async function makespan(cwd: string, store: string, { children, at_once, calls, delay_ms }: Makespan) {
  const model: Model = {
    name: 'slow/m',
    window: null,
    generate: async ({ messages }) => {
      await sleep(delay_ms)
      const said = { ok: true, model: 'm', usage: USAGE, cost_usd: 0 } as const
      if ((messages.length - 1) / 2 >= calls) {
        return { ...said, finish_reason: 'stop', parts: [{ type: 'text', text: 'Done.' }] }
      }
      const args = JSON.stringify({ path: 'file-0.txt' })
      return {
        ...said,
        finish_reason: 'tool_calls',
        parts: [{ type: 'tool_call', wire_id: `w${messages.length}`, tool: 'read_file', args }],
      }
    },
  }
  const settings = { max_concurrent: at_once, tools: ['read_file'], model: { name: 'slow/m', source: 'user' as const } }
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings })
  try {
    const started = performance.now()
    const results = await retinue.fanOut(Array.from({ length: children }, () => ({ task: 'Read the files' }))).results()
    const took_ms = performance.now() - started
    const failed = results.find(({ success }) => !success)
    if (failed) throw new Error(`${failed.outcome}: ${failed.error}`)
    return { took_ms, ideal_ms: Math.ceil(children / at_once) * (calls + 1) * delay_ms }
  } finally {
    await retinue.close()
  }
}

export type Makespan = { children: number; at_once: number; calls: number; delay_ms: number }
