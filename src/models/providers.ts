import type { Usage } from '../domain/index.js'
import { type Endpoint, type Env, findEndpoints, hostOf, localEndpoint, ollamaOrigin } from './endpoints.js'
import type { DiscoverOptions } from './local/discover.js'
import { isLocalProvider, type LocalProvider, USUAL_ORIGINS } from './local/server.js'
import { DEFAULT_IDLE_TIMEOUT_MS, type Model, type ModelChoice, type Models } from './model.js'
import { type LanguageModels, loadPackage, wireOf } from './packages.js'
import type { Member } from './pool.js'
import { createPools } from './pools.js'
import { createPricing, type Price } from './prices/pricing.js'
import { readerOf } from './provenance.js'
import type { ProviderSettings } from './settings.js'
import { createTransport } from './transport.js'
import { windowOf } from './windows.js'

export type ModelsOptions = {
  /** Where keys and base URLs come from. */
  env: Env
  /** From the configuration, by name. */
  providers?: Record<string, ProviderSettings>
  /** Lists of models, by name: `fast` and `pool/fast` then stand for the first of them that answers. */
  pools?: Record<string, readonly string[]>
  /** What the paths of scripts are relative to. Default: the working directory. */
  scripts_root?: string
  /** Reads scripts: the host's. Without it there are none. */
  readText?: (path: string) => Promise<string | null>
  /** How long a stream may be silent, for providers that do not say so themselves. */
  idle_timeout_ms?: number
  /** Instead of our own transport: for a proxy, say. */
  fetch?: typeof globalThis.fetch
  /** How model servers of this machine are looked for. False: not at all. */
  discover?: false | DiscoverOptions
  /** The clock, in ms since 1970: prices change, and members of a pool are left out for a while. */
  now?: () => number
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
  const discovery = discoveryOf(options)
  const now = options.now ?? Date.now
  const silence_ms = options.idle_timeout_ms ?? DEFAULT_IDLE_TIMEOUT_MS
  const pools = createPools({ pools: options.pools ?? {}, resolve, look, now, silence_ms })

  async function find(name: string): Promise<ModelChoice> {
    const pool = pools.named(name)
    if (pool !== null) return pools.open(pool)
    const slash = name.indexOf('/')
    const provider = name.slice(0, slash)
    const model = name.slice(slash + 1)
    if (slash < 1 || model === '')
      return { ok: false, code: 'bad_name', message: badName(name, endpoints, pools.names) }
    if (provider === 'scripted') {
      const { openScript } = await import('./scripted/file.js')
      return openScript(model, options.scripts_root ?? '.', options.readText ?? (async () => null))
    }
    const endpoint = endpoints.get(provider)
    if (discovery && isLocalProvider(provider) && !options.providers?.[provider]) {
      const local = await findLocal(name, provider, model, discovery)
      // What OLLAMA_HOST names is taken at its word when it does not answer like one.
      if (local.ok || local.code !== 'unknown_provider' || !endpoint) return local
    }
    if (!endpoint) return { ok: false, code: 'unknown_provider', message: unknown(provider, endpoints) }
    if (!isReady(endpoint)) {
      return { ok: false, code: 'no_key', message: `${name} needs a key: set ${endpoint.key_env}` }
    }
    return { ok: true, model: await open(name, model, endpoint) }
  }

  async function findLocal(
    name: string,
    provider: LocalProvider,
    model: string,
    discovery: DiscoverOptions,
  ): Promise<ModelChoice> {
    const { chooseLocal } = await import('./local/choose.js')
    const choice = await chooseLocal(provider, model, discovery)
    if (!choice.ok) return choice
    const endpoint = localEndpoint(provider, choice.server.origin, choice.model.context_window)
    return { ok: true, model: await open(name, choice.model.name, endpoint) }
  }

  async function open(name: string, model: string, endpoint: Endpoint): Promise<Model> {
    const loaded = packages.get(endpoint) ?? loadPackage(endpoint, fetch)
    packages.set(endpoint, loaded)
    const [{ createSdkModel }, languageModel] = await Promise.all([import('./sdk.js'), loaded])
    return createSdkModel({
      name,
      model: languageModel(model),
      window: windowAt(endpoint, model),
      wire: wireOf(endpoint),
      reader: readerOf(endpoint.kind, endpoint.provider),
      price: pricingOf(endpoint, model),
      now,
      ...idleTimeout(endpoint.idle_timeout_ms ?? options.idle_timeout_ms),
      host: hostOf(endpoint.base_url),
      key_env: endpoint.key_env,
      secrets: [endpoint.key, ...Object.values(endpoint.headers)].filter((secret) => secret !== null),
    })
  }

  function pricingOf(endpoint: Endpoint, model: string): () => Price | null {
    const prices = options.providers?.[endpoint.provider]?.prices ?? {}
    return createPricing({ model, base_url: endpoint.base_url, prices })
  }

  /** What can be said of a model without loading anything. */
  function look(name: string): Member['ready'] | null {
    const slash = name.indexOf('/')
    const model = name.slice(slash + 1)
    const endpoint = endpoints.get(name.slice(0, slash))
    if (!endpoint || model === '' || !isReady(endpoint) || isLocalProvider(endpoint.provider)) return null
    const pricing = pricingOf(endpoint, model)
    const price = () => {
      const found = pricing()
      return found ? (usage: Usage) => found(usage, now()) : undefined
    }
    return { ok: true, window: windowAt(endpoint, model), price }
  }

  async function resolve(name: string): Promise<ModelChoice> {
    const known = choices.get(name) ?? find(name)
    choices.set(name, known)
    const choice = await known
    // A script may have been mended by the next time.
    if (!choice.ok) choices.delete(name)
    return choice
  }

  return {
    resolve,
    available() {
      return [...endpoints.values()].map((endpoint) => ({
        provider: endpoint.provider,
        ready: isReady(endpoint),
        hint: hint(endpoint),
      }))
    },
    async discover() {
      if (!discovery) return []
      const { discoverLocal } = await import('./local/discover.js')
      return discoverLocal(discovery)
    },
    async fallback() {
      for (const [provider, model] of FALLBACKS) {
        const endpoint = endpoints.get(provider)
        // What a stranger's server has under these names, nobody knows. Anthropic's are usually passed on to it.
        if (endpoint && isReady(endpoint) && (endpoint.official || endpoint.kind === 'anthropic')) {
          return `${provider}/${model}`
        }
      }
      if (!discovery) return null
      const { anyLocal } = await import('./local/choose.js')
      return anyLocal(discovery)
    },
  }
}

/** Where to look for model servers: the usual places, with Ollama's where OLLAMA_HOST says. Null: nowhere. */
function discoveryOf({ env, discover = {}, providers = {} }: ModelsOptions): DiscoverOptions | null {
  if (discover === false) return null
  const without = Object.keys(providers)
  const ollama = env.OLLAMA_HOST ? ollamaOrigin(env.OLLAMA_HOST) : USUAL_ORIGINS.ollama
  if (ollama === null) without.push('ollama')
  return { origins: Object.values({ ...USUAL_ORIGINS, ...(ollama ? { ollama } : {}) }), without, ...discover }
}

function windowAt(endpoint: Endpoint, model: string): number | null {
  return endpoint.context_window ?? (endpoint.kind === 'openai-compatible' ? null : windowOf(model))
}

function isReady(endpoint: Endpoint): boolean {
  return endpoint.key_env === null || endpoint.key !== null
}

function hint(endpoint: Endpoint): string {
  if (!isReady(endpoint)) return `set ${endpoint.key_env}`
  const where = hostOf(endpoint.base_url) ?? endpoint.base_url
  return endpoint.key_env ? `${where}, key from ${endpoint.key_env}` : `${where}, without a key`
}

function badName(name: string, endpoints: ReadonlyMap<string, Endpoint>, pools: readonly string[]): string {
  const guess = FALLBACKS.find(([, model]) => model.slice(0, 3) === name.slice(0, 3))?.[0]
  const example = guess ? `${guess}/${name}` : 'anthropic/claude-sonnet-4-5'
  const there = [`providers: ${[...endpoints.keys()].join(', ')}`]
  if (pools.length > 0) there.push(`pools: ${pools.join(', ')}`)
  return `"${name}" is not a model name: it takes provider/model, such as ${example} (${there.join('; ')})`
}

function unknown(provider: string, endpoints: ReadonlyMap<string, Endpoint>): string {
  const ollama = provider === 'ollama' ? '; for ollama set OLLAMA_HOST, for example to http://127.0.0.1:11434' : ''
  return `no provider "${provider}" here, only ${[...endpoints.keys()].join(', ')}${ollama}`
}

function idleTimeout(idle_timeout_ms: number | undefined): { idle_timeout_ms?: number } {
  return idle_timeout_ms === undefined ? {} : { idle_timeout_ms }
}
