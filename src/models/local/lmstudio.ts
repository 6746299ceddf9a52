import { z } from 'zod'
import type { Ask } from './ask.js'
import { type LocalModel, type LocalServer, said } from './server.js'

const tokens = z.int().positive().optional().catch(undefined)

/** Since 0.4. */
const modelsSchema = z.object({
  models: z
    .array(
      z.object({
        type: z.string(),
        key: z.string(),
        max_context_length: tokens,
        loaded_instances: z.array(z.object({ config: z.object({ context_length: tokens }).optional() })),
        capabilities: z.object({ trained_for_tool_use: z.boolean().optional() }).nullish(),
      }),
    )
    .min(1),
})

const olderSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        type: z.string(),
        state: z.enum(['loaded', 'not-loaded']),
        max_context_length: tokens,
        loaded_context_length: tokens,
        capabilities: z.array(z.string()).optional(),
      }),
    )
    .min(1),
})

export async function readLmStudio(origin: string, ask: Ask): Promise<LocalServer | null> {
  const [now, before] = await Promise.all([ask('/api/v1/models'), ask('/api/v0/models')])
  const models = newer(said(modelsSchema, now)) ?? older(said(olderSchema, before))
  // It does not tell its version.
  return models && { provider: 'lmstudio', origin, version: null, models }
}

function newer(found: z.infer<typeof modelsSchema> | null): LocalModel[] | null {
  if (!found) return null
  return found.models
    .filter(({ type }) => talks(type))
    .map(({ key, max_context_length, loaded_instances, capabilities }) => ({
      name: key,
      context_window: loaded_instances[0]?.config?.context_length ?? max_context_length ?? null,
      tools: capabilities?.trained_for_tool_use ?? null,
      loaded: loaded_instances.length > 0,
    }))
}

function older(found: z.infer<typeof olderSchema> | null): LocalModel[] | null {
  if (!found) return null
  // It leaves the field out both where it knows of none and, in early versions, always.
  const tells = found.data.some(({ capabilities }) => capabilities !== undefined)
  return found.data
    .filter(({ type }) => talks(type))
    .map(({ id, state, max_context_length, loaded_context_length, capabilities }) => ({
      name: id,
      context_window: loaded_context_length ?? max_context_length ?? null,
      tools: tells ? (capabilities?.includes('tool_use') ?? false) : null,
      loaded: state === 'loaded',
    }))
}

function talks(type: string): boolean {
  return type === 'llm' || type === 'vlm'
}
