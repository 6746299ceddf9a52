import { seconds } from '../text.js'
import { STREAM_ENDED } from './http.js'
import type { McpTarget } from './settings.js'

type Library = typeof import('@modelcontextprotocol/client')

const UNKNOWN = 'whether it took effect is not known. Look before you repeat it.'

/** Causes of which it is certain that the server got nothing. */
const NOT_CONNECTED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** Whether a server says that it does not know the session: with 404 as it should, or with 400 and a word about it. */
export function isSessionLost(error: unknown, { SdkHttpError }: Library): boolean {
  if (!(error instanceof SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message))
}

/** Why a call has no answer, for the agent: what is certain about it, and what is not. */
export function explainFailure(
  error: unknown,
  call: { name: string; kind: McpTarget['kind']; ending: string; timeout_ms: number; library: Library },
): string {
  const { name, timeout_ms } = call
  const { SdkError, SdkErrorCode, SdkHttpError, ProtocolError } = call.library
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return `${name} did not answer within ${seconds(timeout_ms)} and was told to stop; ${UNKNOWN}`
  }
  const isCut = error instanceof ProtocolError && error.code === STREAM_ENDED
  if (error instanceof ProtocolError && !isCut) return `${name}: ${error.message}`
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return `${name} gave an answer that is none: ${error.message.slice(0, 500)}`
  }
  if (call.kind === 'stdio') return `the server ${name} ended during the call; ${UNKNOWN} (${call.ending})`
  const said = (error as Error).message.slice(0, 500)
  if (error instanceof SdkHttpError) {
    // What stands before a server gives up on it with such a status, and the server may go on all the same.
    const isInDoubt = error.status !== undefined && error.status >= 500
    return isInDoubt ? `${name} failed in the call; ${UNKNOWN} (${said})` : `${name} refused the call: ${said}`
  }
  if (isNotConnected(error)) return `${name} cannot be reached: ${said}`
  return `the connection to ${name} ended during the call; ${UNKNOWN}`
}

function isNotConnected(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return NOT_CONNECTED.includes(String(code))
}
