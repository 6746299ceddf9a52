import { count, data, type Protocol } from './protocol.js'
import { type Answer, parseArgs, words } from './steps.js'

const FINISH = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' }
const head = { modelVersion: 'loopback-1', responseId: 'resp_1' }

function candidate(parts: object[], finishReason?: string) {
  return { candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }] }
}

function usageOf({ usage }: Answer) {
  return {
    usageMetadata: {
      promptTokenCount: usage.input_tokens,
      candidatesTokenCount: usage.output_tokens - usage.reasoning_tokens,
      thoughtsTokenCount: usage.reasoning_tokens,
      cachedContentTokenCount: usage.cached_tokens,
      totalTokenCount: usage.input_tokens + usage.output_tokens,
    },
  }
}

function callsOf(answer: Answer): object[] {
  return answer.calls.map((call) => ({
    functionCall: { id: call.id, name: call.name, args: parseArgs(call.args) },
    ...(answer.reasoning ? { thoughtSignature: `signed-${answer.turn}` } : {}),
  }))
}

export const google: Protocol = {
  base: '/v1beta',
  accepts: (path) => /^\/v1beta\/models\/[^/]+:(stream)?[gG]enerateContent/.test(path),
  isStream: (path) => path.includes(':streamGenerateContent'),
  turns: (body) => count(body, '"role":"model"'),
  whole: (answer) => {
    const parts = [
      ...(answer.reasoning ? [{ text: answer.reasoning, thought: true }] : []),
      ...(answer.text ? [{ text: answer.text }] : []),
      ...callsOf(answer),
    ]
    return { ...head, ...candidate(parts, FINISH[answer.finish]), ...usageOf(answer) }
  },
  events: (answer) => {
    const parts = [
      ...words(answer.reasoning).map((text) => ({ text, thought: true })),
      ...words(answer.text).map((text) => ({ text })),
      ...callsOf(answer),
    ]
    const last = parts.pop()
    return [
      ...parts.map((part) => data({ ...head, ...candidate([part]) })),
      data({ ...head, ...candidate(last ? [last] : [], FINISH[answer.finish]), ...usageOf(answer) }),
    ]
  },
  opening: [data({ ...head, ...candidate([{ text: 'word ' }]) })],
  tick: data({ ...head, ...candidate([{ text: 'word ' }]) }),
  error: (status, message) => ({ error: { code: 500, message, status } }),
  errorEvent: (status, message) => data({ error: { code: null, message, status } }),
}
