import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { Endpoint } from './endpoints.js'
import type { Wire } from './prompt.js'

/** What every provider package of the SDK takes. The key is always given: left out, they would look in process.env. */
type Settings = { baseURL: string; apiKey: string; headers: Record<string, string>; fetch: typeof globalThis.fetch }

export type LanguageModels = (model: string) => LanguageModelV3

/** Loads the package that speaks to an endpoint. Each costs tens of milliseconds, so only what is used is loaded. */
export async function loadPackage(endpoint: Endpoint, fetch: typeof globalThis.fetch): Promise<LanguageModels> {
  const { base_url: baseURL, headers, kind, provider } = endpoint
  const settings: Settings = { baseURL, headers, apiKey: endpoint.key ?? '', fetch }
  switch (kind) {
    case 'openai-responses':
    case 'openai-chat': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI(settings)
      return kind === 'openai-chat' ? openai.chat : openai.responses
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings).languageModel
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      return createGoogleGenerativeAI(settings).languageModel
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const { apiKey, ...rest } = settings
      const compatible = createOpenAICompatible({
        ...rest,
        ...(apiKey ? { apiKey } : {}),
        name: provider,
        includeUsage: true,
      })
      return (model) => compatible.chatModel(model)
    }
  }
}

export function wireOf({ kind, official: cache_key }: Pick<Endpoint, 'kind' | 'official'>): Wire {
  switch (kind) {
    case 'openai-responses':
      // Nothing may depend on what the server remembers. The SDK asks for encrypted reasoning where there is any.
      return { options: { openai: { store: false } }, strict_tools: false, cache_key }
    case 'openai-chat':
      return { usage_last: true, cache_key }
    case 'anthropic':
      return { cache_mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
    default:
      return {}
  }
}
