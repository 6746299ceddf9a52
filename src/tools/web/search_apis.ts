import { z } from 'zod'
import type { HttpRequest } from '../../host/index.js'

/** A search service, with the key in its place. `url`: another address than the service's own. */
export type SearchSettings =
  | { type: 'searxng'; url: string }
  | { type: 'brave' | 'tavily'; api_key: string; url?: string | null }

export type Hit = { title: string; url: string; snippet: string }

/** What differs between services: how one is asked, and how its answer reads. */
type SearchApi = {
  address: string
  request: (query: string, count: number) => Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>
  hits: (answer: unknown) => Hit[] | null
}

/** A title or a description that is not there is no reason to lose the rest. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const JSON_ONLY = { accept: 'application/json' }

export function searchApi(settings: SearchSettings): SearchApi {
  if (settings.type === 'searxng') return searxng(settings.url)
  return settings.type === 'brave'
    ? brave(settings.url ?? 'https://api.search.brave.com', settings.api_key)
    : tavily(settings.url ?? 'https://api.tavily.com', settings.api_key)
}

function searxng(base: string): SearchApi {
  const url = at(base, '/search')
  const answer = z.object({ results: z.array(z.object({ title: text, url: z.string(), content: text })) })
  return {
    address: url,
    request: (query) => ({ url: `${url}?${new URLSearchParams({ q: query, format: 'json' })}`, headers: JSON_ONLY }),
    hits: (value) => {
      const read = answer.safeParse(value)
      return read.success ? read.data.results.map((hit) => ({ ...hit, snippet: hit.content })) : null
    },
  }
}

function brave(base: string, api_key: string): SearchApi {
  const url = at(base, '/res/v1/web/search')
  const result = z.object({ title: text, url: z.string(), description: text })
  const answer = z.object({ web: z.object({ results: z.array(result) }).nullish() })
  return {
    address: url,
    request: (query, count) => ({
      url: `${url}?${new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' })}`,
      headers: { ...JSON_ONLY, 'x-subscription-token': api_key },
    }),
    hits: (value) => {
      const read = answer.safeParse(value)
      return read.success ? (read.data.web?.results ?? []).map((hit) => ({ ...hit, snippet: hit.description })) : null
    },
  }
}

function tavily(base: string, api_key: string): SearchApi {
  const url = at(base, '/search')
  const answer = z.object({ results: z.array(z.object({ title: text, url: z.string(), content: text })) })
  return {
    address: url,
    request: (query, count) => ({
      url,
      method: 'POST',
      headers: { ...JSON_ONLY, 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    hits: (value) => {
      const read = answer.safeParse(value)
      return read.success ? read.data.results.map((hit) => ({ ...hit, snippet: hit.content })) : null
    },
  }
}

/** The path of an API below a base that may have a path of its own, or name the API already. */
function at(base: string, path: string): string {
  const plain = base.replace(/[?#].*$/, '').replace(/\/+$/, '')
  return plain.endsWith(path) ? plain : `${plain}${path}`
}
