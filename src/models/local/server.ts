import type { z } from 'zod'
import type { Reply } from './ask.js'

/** Model servers that are found without configuration. */
export const LOCAL_PROVIDERS = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const
export type LocalProvider = (typeof LOCAL_PROVIDERS)[number]

/** Where each usually listens. */
export const USUAL_ORIGINS: Record<LocalProvider, string> = {
  ollama: 'http://127.0.0.1:11434',
  lmstudio: 'http://127.0.0.1:1234',
  llamacpp: 'http://127.0.0.1:8080',
  vllm: 'http://127.0.0.1:8000',
}

export type LocalModel = {
  name: string
  /**
   * Tokens that one request may have: what the server was started with or loaded the model with, and otherwise the
   * most that the model takes. Null when the server does not say.
   */
  context_window: number | null
  /** Whether it was made to call tools; null when the server does not say. */
  tools: boolean | null
  /** Whether it is in memory; null when the server does not say. */
  loaded: boolean | null
}

export type LocalServer = {
  provider: LocalProvider
  /** `http://127.0.0.1:11434`, without the version. */
  origin: string
  version: string | null
  models: LocalModel[]
}

/** What a server said, if it is what was asked for. */
export function said<S extends z.ZodType>(schema: S, reply: Reply): z.infer<S> | null {
  if (reply.kind !== 'json' || reply.status !== 200) return null
  const parsed = schema.safeParse(reply.value)
  return parsed.success ? parsed.data : null
}

export function isLocalProvider(name: string): name is LocalProvider {
  return LOCAL_PROVIDERS.some((provider) => provider === name)
}
