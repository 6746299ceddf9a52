import { createRequire } from 'node:module'
import type { Usage } from '../../domain/index.js'

/**
 * The table is half a megabyte and takes some 30 ms to load, so it is read when a price is first asked for. `require`
 * because whoever asks wants to know at once whether there is a price.
 */
function load(): typeof import('@pydantic/genai-prices') {
  return createRequire(import.meta.url)('@pydantic/genai-prices')
}

/** What usage cost at a time (in ms since 1970), by the table that comes with Retinue. */
export type TablePrice = (usage: Usage, at: number) => number

/** Null where the table does not know the service at that address, or not this model of it. */
export function tablePrice(base_url: string, model: string): TablePrice | null {
  if (!isPublic(base_url)) return null
  const { calcPrice, findProvider } = load()
  const provider = findProvider({ providerApiUrl: base_url })
  if (!provider) return null
  const name = model.replace(/^models\//, '')
  const service = { providerId: provider.id }
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, name, service)
  if (!found) return null
  if (found.model_price.input_mtok === undefined || found.model_price.output_mtok === undefined) {
    // The table lists some models without any price. Only where the name says so it means that they are free.
    return name.endsWith(':free') ? () => 0 : null
  }
  return (usage, at) => calcPrice(toTableUsage(usage), name, { ...service, timestamp: new Date(at) })?.total_price ?? 0
}

/** The table refuses parts that are larger than the whole, which some servers report. */
function toTableUsage(usage: Usage): Record<string, number> {
  const { cached_tokens, cache_write_tokens, reasoning_tokens } = usage
  return {
    input_tokens: Math.max(usage.input_tokens, cached_tokens + cache_write_tokens),
    cache_read_tokens: cached_tokens,
    cache_write_tokens,
    output_tokens: Math.max(usage.output_tokens, reasoning_tokens),
    output_reasoning_tokens: reasoning_tokens,
  }
}

/** A server on this machine or next to it is nobody's service, whatever its models are called. */
function isPublic(base_url: string): boolean {
  try {
    const { hostname } = new URL(base_url)
    return hostname.includes('.') && !/^[\d.]+$/.test(hostname) && !/\.(local|localhost|internal)$/.test(hostname)
  } catch {
    return false
  }
}
