import { asksForStream, count, data, type Protocol } from './protocol.js'
import { type Answer, words } from './steps.js'

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'loopback-1' }

function chunk(delta: unknown, finish_reason: string | null = null): string {
  return data({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
}

function usageOf({ usage }: Answer) {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  }
}

export const chat: Protocol = {
  base: '/v1',
  accepts: (path) => path === '/v1/chat/completions',
  isStream: asksForStream,
  turns: (body) => count(body, '"role":"assistant"'),
  whole: (answer) => ({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text || null,
          ...(answer.reasoning ? { reasoning_content: answer.reasoning } : {}),
          ...(answer.calls.length > 0 ? { tool_calls: answer.calls.map(toCall) } : {}),
        },
        finish_reason: answer.finish,
      },
    ],
    usage: usageOf(answer),
  }),
  events: (answer) => [
    chunk({ role: 'assistant', content: '' }),
    ...words(answer.reasoning).map((word) => chunk({ reasoning_content: word })),
    ...words(answer.text).map((word) => chunk({ content: word })),
    ...answer.calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, ...toCall({ ...call, args: '' }) }] }),
      ...halves(call.args).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    chunk({}, answer.finish),
    data({ ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(answer) }),
    'data: [DONE]\n\n',
  ],
  opening: [chunk({ role: 'assistant', content: '' })],
  tick: chunk({ content: 'word ' }),
  error: (type, message) => ({ error: { message, type, param: null, code: type } }),
  errorEvent: (type, message) => data({ error: { message, type, param: null, code: type } }),
}

function toCall(call: { id: string; name: string; args: string }) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.args } }
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}
