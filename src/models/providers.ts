import { type Endpoint, type Env, findEndpoints, hostOf } from './endpoints.js'
import type { Model, ModelChoice, Models } from './model.js'
import { type LanguageModels, loadPackage, wireOf } from './packages.js'
import type { ProviderSettings } from './settings.js'
import { createTransport } from './transport.js'
import { windowOf } from './windows.js'

export type ModelsOptions = {
  /** Where keys and base URLs come from. */
  env: Env
  /** From the configuration, by name. */
  providers?: Record<string, ProviderSettings>
  /** What the paths of scripts are relative to. Default: the working directory. */
  scripts_root?: string
  /** Reads scripts: the host's. Without it there are none. */
  readText?: (path: string) => Promise<string | null>
  /** How long a stream may be silent, for providers that do not say so themselves. */
  idle_timeout_ms?: number
  /** Instead of our own transport: for a proxy, say. */
  fetch?: typeof globalThis.fetch
}

/** Tried in this order when nobody named a model. */
const FALLBACKS: [provider: string, model: string][] = [
  ['anthropic', 'claude-sonnet-4-5'],
  ['openai', 'gpt-5'],
  ['google', 'gemini-2.5-pro'],
]

export function createModels(options: ModelsOptions): Models {
  const endpoints = findEndpoints(options.env, options.providers ?? {})
  const fetch = options.fetch ?? createTransport()
  const packages = new Map<Endpoint, Promise<LanguageModels>>()
  const choices = new Map<string, Promise<ModelChoice>>()

  async function find(name: string): Promise<ModelChoice> {
    const slash = name.indexOf('/')
    const provider = name.slice(0, slash)
    const model = name.slice(slash + 1)
    if (slash < 1 || model === '') return { ok: false, code: 'bad_name', message: badName(name, endpoints) }
    if (provider === 'scripted') {
      const { openScript } = await import('./scripted/file.js')
      return openScript(model, options.scripts_root ?? '.', options.readText ?? (async () => null))
    }
    const endpoint = endpoints.get(provider)
    if (!endpoint) return { ok: false, code: 'unknown_provider', message: unknown(provider, endpoints) }
    if (!isReady(endpoint)) {
      return { ok: false, code: 'no_key', message: `${name} needs a key: set ${endpoint.key_env}` }
    }
    return { ok: true, model: await open(name, model, endpoint) }
  }

  async function open(name: string, model: string, endpoint: Endpoint): Promise<Model> {
    const loaded = packages.get(endpoint) ?? loadPackage(endpoint, fetch)
    packages.set(endpoint, loaded)
    const [{ createSdkModel }, languageModel] = await Promise.all([import('./sdk.js'), loaded])
    return createSdkModel({
      name,
      model: languageModel(model),
      window: endpoint.context_window ?? (endpoint.kind === 'openai-compatible' ? null : windowOf(model)),
      wire: wireOf(endpoint.kind),
      ...idleTimeout(endpoint.idle_timeout_ms ?? options.idle_timeout_ms),
      host: hostOf(endpoint.base_url),
      key_env: endpoint.key_env,
      secrets: [endpoint.key, ...Object.values(endpoint.headers)].filter((secret) => secret !== null),
    })
  }

  return {
    async resolve(name) {
      const known = choices.get(name) ?? find(name)
      choices.set(name, known)
      const choice = await known
      // A script may have been mended by the next time.
      if (!choice.ok) choices.delete(name)
      return choice
    },
    available() {
      return [...endpoints.values()].map((endpoint) => ({
        provider: endpoint.provider,
        ready: isReady(endpoint),
        hint: hint(endpoint),
      }))
    },
    fallback() {
      for (const [provider, model] of FALLBACKS) {
        const endpoint = endpoints.get(provider)
        // What a stranger's server has under these names, nobody knows. Anthropic's are usually passed on to it.
        if (endpoint && isReady(endpoint) && (endpoint.official || endpoint.kind === 'anthropic')) {
          return `${provider}/${model}`
        }
      }
      return null
    },
  }
}

function isReady(endpoint: Endpoint): boolean {
  return endpoint.key_env === null || endpoint.key !== null
}

function hint(endpoint: Endpoint): string {
  if (!isReady(endpoint)) return `set ${endpoint.key_env}`
  const where = hostOf(endpoint.base_url) ?? endpoint.base_url
  return endpoint.key_env ? `${where}, key from ${endpoint.key_env}` : `${where}, without a key`
}

function badName(name: string, endpoints: ReadonlyMap<string, Endpoint>): string {
  const guess = FALLBACKS.find(([, model]) => model.slice(0, 3) === name.slice(0, 3))?.[0]
  const example = guess ? `${guess}/${name}` : 'anthropic/claude-sonnet-4-5'
  return `"${name}" is not a model name: it takes provider/model, such as ${example} (providers: ${[...endpoints.keys()].join(', ')})`
}

function unknown(provider: string, endpoints: ReadonlyMap<string, Endpoint>): string {
  const ollama = provider === 'ollama' ? '; for ollama set OLLAMA_HOST, for example to http://127.0.0.1:11434' : ''
  return `no provider "${provider}" here, only ${[...endpoints.keys()].join(', ')}${ollama}`
}

function idleTimeout(idle_timeout_ms: number | undefined): { idle_timeout_ms?: number } {
  return idle_timeout_ms === undefined ? {} : { idle_timeout_ms }
}
