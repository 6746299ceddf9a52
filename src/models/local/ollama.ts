import { z } from 'zod'
import type { Ask } from './ask.js'
import { type LocalModel, type LocalServer, said } from './server.js'

const versionSchema = z.object({ version: z.string() })
const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })).nullable() })
const runningSchema = z.object({
  models: z.array(z.object({ name: z.string(), context_length: z.int().positive().optional().catch(undefined) })),
})
const showSchema = z.object({
  capabilities: z.array(z.string()).optional(),
  model_info: z.record(z.string(), z.unknown()).nullish(),
  parameters: z.string().nullish(),
})

/** Each is asked about by itself, and somebody may have hundreds. */
const MAX_SHOWN = 64
const AT_ONCE = 8

export async function readOllama(origin: string, ask: Ask, patiently: Ask): Promise<LocalServer | null> {
  const [version, tags] = await Promise.all([ask('/api/version'), ask('/api/tags')])
  const found = { version: said(versionSchema, version)?.version, tags: said(tagsSchema, tags) }
  if (found.version === undefined || !found.tags) return null
  const names = (found.tags.models ?? []).map(({ name }) => name)
  const running = new Map(
    said(runningSchema, await patiently('/api/ps'))?.models.map(({ name, context_length }) => [name, context_length]),
  )
  const models: (LocalModel | null)[] = names.map((name) => unshown(name, running))
  const waiting = names.slice(0, MAX_SHOWN).entries()
  const work = async () => {
    for (const [index, name] of waiting) models[index] = await show(name, patiently, running)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { provider: 'ollama', origin, version: found.version, models: models.filter((model) => model !== null) }
}

type Running = ReadonlyMap<string, number | undefined>

/** Null for what cannot hold a conversation. */
async function show(name: string, ask: Ask, running: Running): Promise<LocalModel | null> {
  const shown = said(showSchema, await ask('/api/show', { model: name }))
  if (!shown) return unshown(name, running)
  const { capabilities, model_info, parameters } = shown
  if (capabilities && !capabilities.includes('completion')) return null
  const most = Object.entries(model_info ?? {}).find(([key]) => key.endsWith('.context_length'))?.[1]
  const asked = Number(/^num_ctx\s+(\d+)/m.exec(parameters ?? '')?.[1])
  return {
    name,
    context_window: running.get(name) ?? (asked > 0 ? asked : typeof most === 'number' ? most : null),
    tools: capabilities ? capabilities.includes('tools') : null,
    loaded: running.has(name),
  }
}

function unshown(name: string, running: Running): LocalModel {
  return { name, context_window: running.get(name) ?? null, tools: null, loaded: running.has(name) }
}
