import { z } from 'zod'
import { pricesSettingsSchema } from './prices/configured.js'

const url = z.url({ protocol: /^https?$/, error: 'must be an http or https address' })

/** A provider as the configuration names it. Keys are never in it, only the variables that hold them. */
export const providerSettingsSchema = z
  .strictObject({
    type: z.enum(['openai-compatible', 'openai', 'anthropic', 'google']),
    base_url: url.optional(),
    /** The environment variable with the key. Without it an openai-compatible server is asked without a key. */
    api_key_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not a key')
      .optional(),
    /** Which of OpenAI's interfaces to speak. */
    api: z.enum(['chat', 'responses']).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Tokens one request may have, where Retinue cannot know: a local server's depends on how it was started. */
    context_window: z.int().positive().optional(),
    /** How long a stream may be silent before it is given up. */
    idle_timeout_ms: z.int().positive().optional(),
    /** What its models cost, instead of what the table of prices says. */
    prices: pricesSettingsSchema.optional(),
  })
  .superRefine((settings, context) => {
    if (settings.type === 'openai-compatible' && settings.base_url === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['base_url'],
        message: 'an openai-compatible provider needs a base_url',
      })
    }
    if (settings.api !== undefined && settings.type !== 'openai') {
      context.addIssue({ code: 'custom', path: ['api'], message: 'only providers of type openai have a choice of api' })
    }
  })
export type ProviderSettings = z.infer<typeof providerSettingsSchema>

/** By name. `openai`, `anthropic`, `google` and `ollama` replace what the environment gives. */
export const providersSettingsSchema = z.record(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]*$/, 'a provider name has lower-case letters, digits, dots, dashes and underscores')
    .refine((name) => name !== 'scripted', '"scripted" is the name of the scripted model')
    .refine((name) => name !== 'pool', '"pool" is what the names of pools begin with'),
  providerSettingsSchema,
)
