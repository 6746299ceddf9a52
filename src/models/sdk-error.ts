import { APICallError, JSONParseError, TypeValidationError } from '@ai-sdk/provider'

export function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return null
  return typeof error.statusCode === 'number' ? error.statusCode : null
}

export function headersOf(error: unknown): Record<string, string> {
  return (APICallError.isInstance(error) && error.responseHeaders) || {}
}

export function bodyOf(error: unknown): unknown {
  if (APICallError.isInstance(error)) return error.responseBody ?? error.data
  if (TypeValidationError.isInstance(error)) return error.value
  return error instanceof Error ? undefined : error
}

function* causes(error: unknown): Generator<Error> {
  let current = error
  for (let depth = 0; current instanceof Error && depth < 8; depth++) {
    yield current
    current = current.cause
  }
}

export function isUnreadable(error: unknown): boolean {
  for (const cause of causes(error)) {
    if (JSONParseError.isInstance(cause) || TypeValidationError.isInstance(cause)) return true
    if (cause.name === 'AI_InvalidResponseDataError' || cause.name === 'AI_EmptyResponseBodyError') return true
  }
  return false
}

/** Of what could not be read, enough to tell what it was. */
export function sample(error: unknown): string {
  const body = APICallError.isInstance(error) ? (error.responseBody ?? '') : ''
  if (/^\s*</.test(body)) return 'a web page; check the base URL'
  if (body !== '') return `"${body}"`
  for (const cause of causes(error)) if (JSONParseError.isInstance(cause)) return `"${cause.text}"`
  return root(error)
}

/** The SDK's own message for a stream of a compatible server that was cut. */
export function endedEarly(error: unknown): boolean {
  return error instanceof Error && /ended without a finish reason/.test(error.message)
}

export function isNetwork(error: unknown): boolean {
  if (APICallError.isInstance(error)) return true
  for (const cause of causes(error)) {
    if (cause.name === 'AbortError' || cause.name === 'TimeoutError') return true
    if (/^(E(?!RR_)[A-Z]|ERR_(TLS|SSL)|UND_ERR|HPE_|CERT|DEPTH|SELF|UNABLE)/.test(codeOf(cause))) return true
    if (cause instanceof TypeError && /fetch failed|terminated|network/i.test(cause.message)) return true
  }
  return false
}

/** The innermost message, which is the one that names the trouble. */
export function root(error: unknown): string {
  let message = ''
  for (const cause of causes(error)) {
    const code = codeOf(cause)
    const text = cause.message || code
    if (text) message = code && !text.includes(code) ? `${text} (${code})` : text
  }
  return message || 'unknown error'
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
