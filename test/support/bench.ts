import { onTestFinished } from 'vitest'
import {
  createMemoryStore,
  createRetinue,
  type EventData,
  type Retinue,
  type RunOptions,
  type RunResult,
  type Settings,
  type StoredEvent,
} from '../../src/index.js'
import {
  createScriptedModel,
  modelsOf,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/index.js'
import { makeProject } from './project.js'

export type Bench = { retinue: Retinue; model: ScriptedModel; cwd: string }

/** A folder, a script and a Retinue that works on them: the public face, with the model the only thing not real. */
export async function bench(
  agents: ScriptedModelOptions['agents'],
  options: { files?: Record<string, string>; settings?: Settings; window?: number; git?: boolean } = {},
): Promise<Bench> {
  const cwd = makeProject(options.files ?? {}, { git: options.git ?? false })
  const model = createScriptedModel({ name: 'test', agents, ...(options.window ? { window: options.window } : {}) })
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings: options.settings ?? {} })
  onTestFinished(() => retinue.close())
  return { retinue, model, cwd }
}

export async function runToEnd(
  retinue: Retinue,
  options: Partial<RunOptions> = {},
): Promise<{ result: RunResult; events: StoredEvent[] }> {
  const run = retinue.run({ task: 'Do it', ...options })
  const events: StoredEvent[] = []
  for await (const event of run) events.push(event)
  return { result: await run.result(), events }
}

/** Data of the events of one type. */
export function dataOf<T extends StoredEvent['type']>(events: StoredEvent[], type: T): EventData<T>[] {
  return events.filter((event) => event.type === type).map((event) => event.data as EventData<T>)
}
