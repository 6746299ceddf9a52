import type { WireError } from '#wire'

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

/** One call of the API. `path` is below /api and its parts are encoded already: see `at`. */
export async function api<T>(path: string, { method = 'GET', body, signal }: Asked = {}): Promise<T> {
  const request: RequestInit = { method, credentials: 'same-origin', headers: { accept: 'application/json' } }
  if (signal) request.signal = signal
  if (body !== undefined) {
    request.body = JSON.stringify(body)
    request.headers = { ...request.headers, 'content-type': 'application/json' }
  }
  const response = await fetch(`/api${path}`, request).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', UNREACHABLE)
  })
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer as T
  const { error } = (answer ?? {}) as Partial<WireError>
  const message = error?.message ?? `The server answered with ${response.status}`
  throw new ApiError(response.status, error?.code ?? 'unknown', message, error?.faults)
}

/** A path with ids in it: at`/runs/${run_id}`. */
export function at(strings: TemplateStringsArray, ...ids: (string | number)[]): string {
  return strings.reduce((path, text, i) => `${path}${i > 0 ? encodeURIComponent(String(ids[i - 1])) : ''}${text}`, '')
}
