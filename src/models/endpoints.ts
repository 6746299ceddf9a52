import type { ProviderSettings } from './settings.js'

export type Env = Readonly<Record<string, string | undefined>>

/** A provider with everything that is needed to reach it. */
export type Endpoint = {
  provider: string
  kind: 'openai-responses' | 'openai-chat' | 'openai-compatible' | 'anthropic' | 'google'
  base_url: string
  /** Where the key comes from; null when none is needed. */
  key_env: string | null
  key: string | null
  headers: Record<string, string>
  context_window: number | null
  idle_timeout_ms: number | null
  /** The provider's own service, rather than something that speaks like it. */
  official: boolean
}

const DEFAULTS = {
  openai: { base_url: 'https://api.openai.com/v1', key_env: 'OPENAI_API_KEY' },
  anthropic: { base_url: 'https://api.anthropic.com/v1', key_env: 'ANTHROPIC_API_KEY' },
  google: { base_url: 'https://generativelanguage.googleapis.com/v1beta', key_env: 'GOOGLE_GENERATIVE_AI_API_KEY' },
}

/** All providers that are known here, with or without their key: those of the environment, then those configured. */
export function findEndpoints(env: Env, providers: Record<string, ProviderSettings>): Map<string, Endpoint> {
  const found = new Map<string, Endpoint>()
  const add = (name: string, settings: ProviderSettings) => found.set(name, toEndpoint(name, settings, env))
  add('anthropic', { type: 'anthropic', ...at(env.ANTHROPIC_BASE_URL) })
  add('openai', { type: 'openai', ...at(env.OPENAI_BASE_URL) })
  add('google', { type: 'google' })
  if (env.OLLAMA_HOST) add('ollama', { type: 'openai-compatible', base_url: ollamaUrl(env.OLLAMA_HOST) })
  for (const [name, settings] of Object.entries(providers)) add(name, settings)
  return found
}

/** A server that was found on this machine. */
export function localEndpoint(provider: string, origin: string, context_window: number | null): Endpoint {
  const window = context_window === null ? {} : { context_window }
  return toEndpoint(provider, { type: 'openai-compatible', base_url: origin, ...window }, {})
}

/** Where OLLAMA_HOST says that Ollama is, when that is on this machine; null when it is elsewhere. */
export function ollamaOrigin(host: string): string | null {
  const url = ollamaUrl(host)
  return /^http:\/\/(127\.[\d.]+|localhost|\[::1\])(:\d+)?$/.test(url) ? url : null
}

function at(base_url: string | undefined): { base_url?: string } {
  return base_url ? { base_url } : {}
}

function toEndpoint(provider: string, settings: ProviderSettings, env: Env): Endpoint {
  const defaults = settings.type === 'openai-compatible' ? null : DEFAULTS[settings.type]
  const base_url = versioned(settings.base_url ?? defaults?.base_url ?? '', settings.type)
  const official = defaults !== null && hostOf(base_url) === hostOf(defaults.base_url)
  const key_env = settings.api_key_env ?? defaults?.key_env ?? null
  return {
    provider,
    kind: kindOf(settings, official),
    base_url,
    key_env,
    key: (key_env && env[key_env]?.trim()) || null,
    headers: settings.headers ?? {},
    context_window: settings.context_window ?? null,
    idle_timeout_ms: settings.idle_timeout_ms ?? null,
    official,
  }
}

/** Few servers besides OpenAI's own speak the Responses API, and many differ from its chat completions a little. */
function kindOf({ type, api }: ProviderSettings, official: boolean): Endpoint['kind'] {
  if (type !== 'openai') return type
  if (api !== undefined) return api === 'responses' ? 'openai-responses' : 'openai-chat'
  return official ? 'openai-responses' : 'openai-compatible'
}

/**
 * The SDK wants the version in the address. ANTHROPIC_BASE_URL is written without it by custom, the others with it,
 * so there it is only added to a bare host.
 */
function versioned(base_url: string, type: ProviderSettings['type']): string {
  const trimmed = base_url.replace(/\/+$/, '')
  const bare = /^https?:\/\/[^/]+$/.test(trimmed)
  if (type === 'google') return bare ? `${trimmed}/v1beta` : trimmed
  if (type === 'anthropic') return /\/v\d+(beta)?$/.test(trimmed) ? trimmed : `${trimmed}/v1`
  return bare ? `${trimmed}/v1` : trimmed
}

/** OLLAMA_HOST is what `ollama serve` takes: an address, a host, a port, or the address to listen on. */
function ollamaUrl(host: string): string {
  const trimmed = host.trim().replace(/\/+$/, '')
  if (/^https?:\/\//.test(trimmed)) return trimmed.replace('//0.0.0.0', '//127.0.0.1')
  const [name, port] = /^(.*?)(?::(\d+))?$/.exec(trimmed)?.slice(1) ?? []
  return `http://${!name || name === '0.0.0.0' ? '127.0.0.1' : name}:${port ?? '11434'}`
}

export function hostOf(url: string): string | null {
  try {
    return new URL(url).host
  } catch {
    return null
  }
}
