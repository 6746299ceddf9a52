import { printableAll } from '#domain'
import type { WireError } from '#wire'
import { changeEntry } from './entry'
import { keyHeader } from './key'

/** What the server refused, in its own words. `status` 0: it could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly faults: { path: string; message: string }[] = [],
  ) {
    super(message)
  }
}

const UNREACHABLE = 'The server cannot be reached. If it was ended, start it again with: retinue serve'

type Asked = { method?: 'GET' | 'POST' | 'PUT' | 'DELETE'; body?: unknown; signal?: AbortSignal }

/** The key that the server did not take: with another one, whichever window brought it, it is tried again. */
let useless: string | undefined
const keyNow = () => keyHeader()['x-retinue-key'] ?? ''

/** One call of the API. `path` is below /api and its parts are encoded already: see `at`. */
export async function api<T>(path: string, asked: Asked = {}): Promise<T> {
  const response = await request(path, asked)
  return (await response.json().catch(() => null)) as T
}

/** The same for what is no JSON. */
export async function request(path: string, { method = 'GET', body, signal }: Asked = {}): Promise<Response> {
  const request: RequestInit = { method, credentials: 'same-origin', headers: { accept: 'application/json' } }
  if (method !== 'GET') request.headers = { ...request.headers, ...keyHeader() }
  if (signal) request.signal = signal
  if (body !== undefined) {
    request.body = JSON.stringify(body)
    request.headers = { ...request.headers, 'content-type': 'application/json' }
  }
  const response = await fetch(`/api${path}`, request).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', UNREACHABLE)
  })
  // A token that is not taken says nothing about whoever is known already.
  if (response.status === 401 && path !== '/login') changeEntry({ missing: true })
  else if (response.ok && keyNow() !== useless) changeEntry({ missing: false })
  if (response.ok) return response
  const answer: unknown = await response.json().catch(() => null)
  // It may name what a model or a file is called.
  const { error } = printableAll((answer ?? {}) as Partial<WireError>)
  // The cookie alone is there: the page was left before it could keep what the login gave besides.
  if (error?.code === 'no_key') {
    useless = keyNow()
    changeEntry({ missing: true })
  }
  const message = error?.message ?? `The server answered with ${response.status}`
  throw new ApiError(response.status, error?.code ?? 'unknown', message, error?.faults)
}

/** A path with ids in it: at`/runs/${run_id}`. */
export function at(strings: TemplateStringsArray, ...ids: (string | number)[]): string {
  return strings.reduce((path, text, i) => `${path}${i > 0 ? encodeURIComponent(String(ids[i - 1])) : ''}${text}`, '')
}
