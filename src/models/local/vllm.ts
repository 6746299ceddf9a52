import { z } from 'zod'
import type { Ask, Reply } from './ask.js'
import { type LocalServer, said } from './server.js'

const listSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        owned_by: z.literal('vllm'),
        max_model_len: z.int().positive().nullish().catch(null),
      }),
    )
    .min(1),
})
const versionSchema = z.object({ version: z.string() })

/** `list` is what it said to `/v1/models`. */
export async function readVllm(origin: string, ask: Ask, list: Reply): Promise<LocalServer | null> {
  const listed = said(listSchema, list)
  if (!listed) return null
  const version = said(versionSchema, await ask('/version'))?.version ?? null
  const models = listed.data.map(({ id, max_model_len }) => ({
    name: id,
    context_window: max_model_len ?? null,
    tools: null,
    loaded: true,
  }))
  return { provider: 'vllm', origin, version, models }
}

/**
 * Whether a vLLM server was started for tools, which it only says when it is asked to use one. It refuses at once
 * where it was not, and otherwise has one token to write.
 */
export async function vllmCallsTools(ask: Ask, model: string): Promise<boolean | null> {
  const reply = await ask('/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [{ type: 'function', function: { name: 'nothing', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'auto',
    max_tokens: 1,
  })
  if (reply.kind !== 'json') return null
  if (reply.status === 200) return true
  return reply.status === 400 && JSON.stringify(reply.value).includes('enable-auto-tool-choice') ? false : null
}
