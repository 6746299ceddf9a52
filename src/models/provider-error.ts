import { isObject } from '../domain/index.js'
/** What a provider said about a failure, wherever in its body it said it. */
export type Said = {
  /** It is an error by its shape, and not just something that is not an answer. */
  is_error: boolean
  text: string
  /** What it calls the failure: `type`, `code` and `status` of its error. Lower case. */
  types: string[]
  body: unknown
}

export type Kind = 'rate_limited' | 'overloaded' | 'auth' | 'quota' | 'bad_request'

const KINDS: Record<string, Kind> = {
  rate_limit_error: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  rate_limit: 'rate_limited',
  resource_exhausted: 'rate_limited',
  too_many_requests: 'rate_limited',
  overloaded_error: 'overloaded',
  overloaded: 'overloaded',
  api_error: 'overloaded',
  server_error: 'overloaded',
  internal_error: 'overloaded',
  internal_server_error: 'overloaded',
  internal: 'overloaded',
  unavailable: 'overloaded',
  service_unavailable: 'overloaded',
  timeout_error: 'overloaded',
  authentication_error: 'auth',
  invalid_api_key: 'auth',
  permission_error: 'auth',
  permission_denied: 'auth',
  unauthenticated: 'auth',
  api_key_invalid: 'auth',
  insufficient_quota: 'quota',
  billing_error: 'quota',
  billing_not_active: 'quota',
  invalid_request_error: 'bad_request',
  invalid_prompt: 'bad_request',
  invalid_argument: 'bad_request',
  not_found_error: 'bad_request',
  model_not_found: 'bad_request',
}

/** The first name that is known. Quota comes first: waiting, which a rate limit asks for, does not help there. */
export function kindOfType({ types, text }: Said): Kind | null {
  const kinds = types.flatMap((type) => KINDS[type] ?? [])
  if (kinds.includes('quota')) return 'quota'
  // Google's way of refusing a key is a 400.
  if (/api key (not valid|expired)|invalid api key/i.test(text)) return 'auth'
  return kinds[0] ?? null
}

const OVERFLOW_TYPES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'])

/** How OpenAI, Anthropic, Google, llama.cpp, vLLM, Ollama, LM Studio, Mistral, xAI and others put it. */
const OVERFLOW = [
  /maximum (context|prompt) length/i,
  /context[ _](length|window|size|limit)\b.*\b(exceed|overflow)|exceed\w*\b.*\bcontext[ _](length|window|size|limit)/i,
  /prompt (is )?too long|input is too long|too long for (the |this )?(requested )?model/i,
  /longer than the (maximum )?(model|context) length/i,
  /exceeds the (maximum number of tokens|maximum allowed number of input tokens|limit of \d+)/i,
  /(model|token) limit.*requested/i,
  /greater than the context length|context the overflows/i,
  /too many (input |prompt )?tokens(?! per)/i,
  /reduce the length of (the |your )?(messages|prompt|input)/i,
  /tokens \+ `?max_new_tokens/i,
]

export function isOverflow({ types, text }: Said, status: number | null): boolean {
  if (types.some((type) => OVERFLOW_TYPES.has(type)) || status === 413) return true
  // One request that is larger than a minute's worth of tokens: waiting does not help, a smaller one does.
  if (status === 429) return /request too large/i.test(text)
  if (status === 401 || status === 403 || status === 404) return false
  return OVERFLOW.some((pattern) => pattern.test(text))
}

/** Reads any of the shapes that errors come in. */
export function readBody(given: unknown): Said {
  const parsed = typeof given === 'string' ? parse(given) : given
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  if (typeof body === 'string') return { is_error: false, text: isPage(body) ? '' : body, types: [], body: null }
  if (!isObject(body)) return { is_error: false, text: '', types: [], body: null }
  const inside = isObject(body.response) ? body.response : isObject(body.data) ? body.data : body
  const error = inside.error ?? body.error
  const at = isObject(error) ? error : body
  const texts = [error, at.message, at.detail, body.message].filter((value) => typeof value === 'string')
  const details = Array.isArray(at.details) ? at.details.filter(isObject) : []
  const types = [at.code, at.type, at.status, ...details.map((detail) => detail.reason), body.type]
  return {
    is_error: (error !== undefined && error !== null) || typeof at.message === 'string',
    text: texts.find((text) => text !== '') ?? '',
    types: types.filter((type) => typeof type === 'string').map((type) => type.toLowerCase()),
    body,
  }
}

/** Google says in the error's details how long to wait. */
export function retryDelayOf({ body }: Said): string | null {
  if (!isObject(body) || !isObject(body.error) || !Array.isArray(body.error.details)) return null
  for (const detail of body.error.details) {
    if (isObject(detail) && typeof detail.retryDelay === 'string') return detail.retryDelay
  }
  return null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.trim()
  }
}

function isPage(text: string): boolean {
  return text.startsWith('<')
}
