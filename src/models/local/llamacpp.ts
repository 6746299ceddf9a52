import { z } from 'zod'
import type { Ask, Reply } from './ask.js'
import { type LocalModel, type LocalServer, said } from './server.js'

const listSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        owned_by: z.literal('llamacpp'),
        meta: z.object({ n_ctx_train: z.int().positive().optional() }).nullish().catch(null),
      }),
    )
    .min(1),
})
const propsSchema = z.object({
  default_generation_settings: z.object({ n_ctx: z.int().positive().optional().catch(undefined) }).optional(),
  chat_template_tool_use: z.string().optional(),
  chat_template_caps: z.record(z.string(), z.unknown()).optional().catch(undefined),
  build_info: z.string().optional(),
})
const loadingSchema = z.object({ error: z.object({ type: z.literal('unavailable_error') }) })

/** `list` is what it said to `/v1/models`. */
export async function readLlamaCpp(origin: string, ask: Ask, list: Reply): Promise<LocalServer | null> {
  const listed = said(listSchema, list)
  if (!listed) return isLoading(list) ? { provider: 'llamacpp', origin, version: null, models: [] } : null
  const props = said(propsSchema, await ask('/props'))
  const models = listed.data.map(
    ({ id, meta }): LocalModel => ({
      name: id,
      context_window: props?.default_generation_settings?.n_ctx ?? meta?.n_ctx_train ?? null,
      tools: toolsOf(props),
      loaded: null,
    }),
  )
  return { provider: 'llamacpp', origin, version: props?.build_info ?? null, models }
}

/** Without a template for tools it would only be told about them in words of the server's own. */
function toolsOf(props: z.infer<typeof propsSchema> | null): boolean | null {
  if (props?.chat_template_tool_use) return true
  const supports = props?.chat_template_caps?.supports_tools
  return typeof supports === 'boolean' ? supports : null
}

function isLoading(list: Reply): boolean {
  return list.kind === 'json' && list.status === 503 && loadingSchema.safeParse(list.value).success
}
