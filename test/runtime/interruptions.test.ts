import { describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  createRetinue,
  type NewEvent,
  type Retinue,
  type Run,
  type StoredEvent,
} from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { makeProject, tree } from '../support/project.js'

const AGENTS: ScriptedModelOptions['agents'] = {
  root: [
    { calls: [{ list_dir: {} }, { read_file: { path: 'a.txt' } }] },
    { calls: [{ write_file: { path: 'b.txt', content: 'b\n' } }] },
    { calls: [{ edit_file: { path: 'a.txt', old_text: 'alpha', new_text: 'omega' } }] },
    { text: 'Done.' },
  ],
}

/** A run in which something happens at its n-th append, before or after it is durable. */
async function interrupted(n: number, when: 'before' | 'after', act: (run: Run) => void) {
  const cwd = makeProject({ 'a.txt': 'alpha\n' })
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const model = createScriptedModel({ name: 'test', agents: AGENTS })
  const retinue: Retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings: { mode: 'auto' } })
  const append = store.append.bind(store)
  let appends = 0
  let run: Run | null = null
  /** What was being written when it happened. */
  let during: readonly NewEvent[] = []
  store.append = async (batch) => {
    const now = ++appends === n
    if (now) during = batch.events
    if (now && when === 'before' && run) act(run)
    const written = await append(batch)
    if (now && when === 'after' && run) act(run)
    return written
  }
  run = retinue.run({ task: 'Work' })
  const ended = await run.result().then(
    (result) => result.outcome,
    (error: { code: string }) => error.code,
  )
  return { retinue, run_id: run.run_id, ended, cwd, during, events: await store.read({ run_id: run.run_id }) }
}

function everyIntentHasOneResult(events: StoredEvent[]): void {
  const intents = events.filter((event) => event.type === 'tool.called' && event.data.attempt === 1)
  for (const intent of intents) {
    const { call_id } = intent.data as { call_id: string }
    expect(events.filter((event) => event.type === 'tool.finished' && event.data.call_id === call_id)).toHaveLength(1)
  }
}

const places = Array.from({ length: 8 }, (_, i) => i + 1).flatMap((n) => [
  { n, when: 'before' as const },
  { n, when: 'after' as const },
])

describe.each(places)('$when append $n', ({ n, when }) => {
  it('a cancel closes the run once, with nothing left open and nothing begun after it', async () => {
    const { ended, events, cwd, during } = await interrupted(n, when, (run) => run.cancel('enough'))
    expect(['cancelled', 'completed']).toContain(ended)
    expect(events.filter((event) => event.type === 'run.closed')).toHaveLength(1)
    everyIntentHasOneResult(events)
    const cancelled = events.find((event) => event.type === 'run.cancel_requested')
    if (!cancelled) return
    const after = events.filter((event) => event.seq > cancelled.seq)
    expect(after.filter((event) => event.type === 'model.requested' || event.type === 'tool.called')).toEqual([])
    const changed = events.flatMap((event) =>
      event.type === 'tool.finished' && event.data.status === 'ok' ? event.data.files_changed : [],
    )
    expect('b.txt' in tree(cwd)).toBe(changed.includes('b.txt'))
    // What had been announced but not begun is not begun any more.
    for (const { type, data } of during) {
      if (type === 'tool.called' && data.effect === 'write') {
        expect(tree(cwd)).toEqual(
          data.tool === 'write_file' ? { 'a.txt': 'alpha\n' } : expect.objectContaining({ 'a.txt': 'alpha\n' }),
        )
      }
      if (type === 'model.requested') expect(after.filter((event) => event.type === 'model.responded')).toEqual([])
    }
  })

  it('leaving it lets it be resumed to the same end', async () => {
    const { retinue, run_id, ended, cwd, events, during } = await interrupted(n, when, (run) => run.leave('later'))
    // Nothing is written after it was let go.
    if (ended === 'abandoned') expect(events.at(-1)?.data).toEqual(during.at(-1)?.data)
    if (ended === 'abandoned') await retinue.resume(run_id).result()
    expect(await retinue.result(run_id)).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(tree(cwd)).toEqual({ 'a.txt': 'omega\n', 'b.txt': 'b\n' })
    everyIntentHasOneResult(await retinue.events(run_id))
  })
})
