import { halves } from './chat.js'
import { asksForStream, count, named, type Protocol } from './protocol.js'
import { type Answer, parseArgs, words } from './steps.js'

const STOP = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'loopback-1', stop_sequence: null }

function inputUsage({ usage }: Answer) {
  return {
    input_tokens: usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
    cache_read_input_tokens: usage.cached_tokens,
    cache_creation_input_tokens: usage.cache_write_tokens,
  }
}

function outputUsage({ usage }: Answer) {
  return { output_tokens: usage.output_tokens, output_tokens_details: { thinking_tokens: usage.reasoning_tokens } }
}

function start(usage: object): string {
  const message = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  return named('message_start', { message })
}

function block(index: number, content_block: object, deltas: object[]): string[] {
  return [
    named('content_block_start', { index, content_block }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ]
}

function blocksOf(answer: Answer): { content_block: object; deltas: object[] }[] {
  const blocks: { content_block: object; deltas: object[] }[] = []
  if (answer.reasoning) {
    blocks.push({
      content_block: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...words(answer.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: `signed-${answer.turn}` },
      ],
    })
  }
  if (answer.text) {
    const deltas = words(answer.text).map((text) => ({ type: 'text_delta', text }))
    blocks.push({ content_block: { type: 'text', text: '' }, deltas })
  }
  for (const call of answer.calls) {
    const deltas = halves(call.args).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    blocks.push({ content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} }, deltas })
  }
  return blocks
}

export const anthropic: Protocol = {
  base: '/v1',
  accepts: (path) => path === '/v1/messages',
  isStream: asksForStream,
  turns: (body) => count(body, '"role":"assistant"'),
  whole: (answer) => ({
    ...head,
    content: [
      ...(answer.reasoning
        ? [{ type: 'thinking', thinking: answer.reasoning, signature: `signed-${answer.turn}` }]
        : []),
      ...(answer.text ? [{ type: 'text', text: answer.text }] : []),
      ...answer.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: parseArgs(call.args) })),
    ],
    stop_reason: STOP[answer.finish],
    usage: { ...inputUsage(answer), ...outputUsage(answer) },
  }),
  events: (answer) => [
    start(inputUsage(answer)),
    named('ping'),
    ...blocksOf(answer).flatMap(({ content_block, deltas }, index) => block(index, content_block, deltas)),
    named('message_delta', {
      delta: { stop_reason: STOP[answer.finish], stop_sequence: null },
      usage: outputUsage(answer),
    }),
    named('message_stop'),
  ],
  opening: [
    start({ input_tokens: 10 }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ],
  tick: named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'word ' } }),
  error: (type, message) => ({ type: 'error', error: { type, message } }),
  errorEvent: (type, message) => named('error', { error: { type, message } }),
}
