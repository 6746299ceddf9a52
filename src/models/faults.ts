import { type LanguageModelV3FinishReason, LoadAPIKeyError } from '@ai-sdk/provider'
import type { ModelError } from './model.js'
import { isOverflow, kindOfType, readBody, type Said } from './provider-error.js'
import { retryAfter } from './retry-after.js'
import { bodyOf, headersOf, isNetwork, isUnreadable, root, sample, statusOf } from './sdk-error.js'

/** What a message about a failed call may say of the call. */
export type FaultSubject = {
  name: string
  host: string | null
  key_env: string | null
  secrets: readonly string[]
}

type Code = ModelError['code']
const MAX_MESSAGE = 500
const MAX_SAID = 300
const MAX_SAMPLE = 120

export function aborted(about: FaultSubject): ModelError {
  return fault('aborted', `the call to ${about.name} was cancelled`, about)
}

export function stalled(idle_timeout_ms: number, about: FaultSubject): ModelError {
  const seconds = Math.round(idle_timeout_ms / 100) / 10
  return fault(
    'network',
    `${about.name} sent nothing for ${seconds} s; the stream was given up (idle_timeout_ms)`,
    about,
  )
}

export function cutShort(content_type: string | undefined, about: FaultSubject): ModelError {
  if (content_type && !content_type.includes('event-stream')) {
    return fault('bad_output', `${about.name} sent ${content_type} instead of a stream; check the base URL`, about)
  }
  return fault('network', `the stream of ${about.name} ended before the answer was complete`, about)
}

export function endedWithError(raw: string | undefined, about: FaultSubject): ModelError {
  return fault('bad_output', `${about.name} ended its answer with an error (${raw ?? 'no reason given'})`, about)
}

export function nothingSaid(finish: LanguageModelV3FinishReason, dropped: boolean, about: FaultSubject): ModelError {
  if (finish.unified === 'content-filter') {
    const reason = finish.raw ?? 'no reason given'
    return fault('bad_request', `the content filter of ${about.name} held the answer back (${reason})`, about)
  }
  const why = dropped
    ? 'it called tools where it was told not to'
    : finish.unified === 'length'
      ? 'the output tokens were used up before it wrote anything; raise max_output_tokens'
      : 'no text and no tool calls'
  return fault('bad_output', `${about.name} gave an empty answer: ${why}`, about)
}

/** Whatever the SDK threw, or put into a stream, as one of our faults. */
export function toFault(error: unknown, about: FaultSubject): ModelError {
  const { name, secrets } = about
  if (LoadAPIKeyError.isInstance(error)) return fault('auth', `no key for ${name}${checkKey(about)}`, about)
  // Struck out before anything is cut: half a key would not be recognized.
  const quote = (text: string, max = MAX_SAID) => shorten(redact(text, secrets), max)
  const given = statusOf(error)
  const answered = given !== null && given >= 200 && given < 300
  const status = answered ? null : given
  const said = readBody(bodyOf(error))
  // An error may come with status 200, in a stream or as a body that the SDK does not take for an error.
  if (status === null && !said.is_error) {
    const why = quote(root(error))
    if (isUnreadable(error)) {
      return fault(
        'bad_output',
        `${name} sent something that is not an answer: ${quote(sample(error), MAX_SAMPLE)}`,
        about,
      )
    }
    if (answered)
      return fault('network', `the connection to ${name} broke off in the middle of the answer: ${why}`, about)
    if (isNetwork(error)) return fault('network', `cannot reach ${about.host ?? name}: ${why}`, about)
    // What failed on our side will fail again.
    if (error instanceof Error) return fault('bad_request', `${name}: ${why}`, about)
  }
  const code = codeOf(status, said)
  const headers = headersOf(error)
  const text = headers.location
    ? `it has moved to ${headers.location}; check the base URL`
    : said.text || (error instanceof Error ? error.message : '') || 'no reason given'
  const waits = code === 'rate_limited' || code === 'overloaded'
  return fault(code, describe(code, status, quote(text), about), about, waits ? retryAfter(headers, said) : null)
}

function codeOf(status: number | null, said: Said): Code {
  const kind = kindOfType(said)
  if (isOverflow(said, status)) return 'context_overflow'
  if (kind === 'auth' || kind === 'quota') return 'auth'
  // OpenAI gives a failed response as 400, Anthropic an error inside a stream as 500: what they call it is truer.
  if (kind && (status === null || status === 400 || status === 500)) return kind
  if (status === null) return 'bad_output'
  if (status === 429) return 'rate_limited'
  if (status === 401 || status === 403 || status === 402) return 'auth'
  if (status === 408 || (status >= 500 && status !== 501)) return 'overloaded'
  return 'bad_request'
}

function describe(code: Code, status: number | null, said: string, about: FaultSubject): string {
  const where = status === null ? about.name : `${about.name} (HTTP ${status})`
  switch (code) {
    case 'rate_limited':
      return `${where}: rate limited: ${said}`
    case 'overloaded':
      return `${where}: overloaded or failing: ${said}`
    case 'auth':
      return `${where}: not allowed: ${said}${checkKey(about)}`
    case 'context_overflow':
      return `${where}: the request is larger than the model takes: ${said}`
    case 'bad_request':
      return status === 404
        ? `${where}: not found: ${said}; check the name of the model${about.host ? ` and the base URL (${about.host})` : ''}`
        : `${where}: refused the request: ${said}`
    default:
      return `${where}: ${said}`
  }
}

function checkKey(about: FaultSubject): string {
  return about.key_env ? `; check ${about.key_env}` : ''
}

function fault(code: Code, message: string, about: FaultSubject, retry_after_ms: number | null = null): ModelError {
  return { ok: false, code, message: shorten(redact(message, about.secrets), MAX_MESSAGE), retry_after_ms }
}

/** Providers quote keys in what they say about them. */
function redact(message: string, secrets: readonly string[]): string {
  let text = message
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, '***')
  return text.replace(/\b(sk-|AIza|Bearer )[\w*.-]{6,}/g, '$1***')
}

function shorten(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}
