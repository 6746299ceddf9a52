import { halves } from './chat.js'
import { asksForStream, named, type Protocol } from './protocol.js'
import { type Answer, words } from './steps.js'

const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'loopback-1' }

type Item = { type: string; id: string; [key: string]: unknown }

function itemsOf(answer: Answer): Item[] {
  const items: Item[] = []
  const { turn } = answer
  if (answer.reasoning) {
    const summary = [{ type: 'summary_text', text: answer.reasoning }]
    items.push({ type: 'reasoning', id: `rs_${turn}`, summary, encrypted_content: `sealed-${turn}` })
  }
  if (answer.text) {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }]
    items.push({ type: 'message', id: `msg_${turn}`, role: 'assistant', status: 'completed', content })
  }
  answer.calls.forEach((call, index) => {
    const { id: call_id, name, args } = call
    items.push({
      type: 'function_call',
      id: `fc_${turn}_${index}`,
      call_id,
      name,
      arguments: args,
      status: 'completed',
    })
  })
  return items
}

function outcomeOf(answer: Answer) {
  const reason = { length: 'max_output_tokens', content_filter: 'content_filter', stop: null, tool_calls: null }[
    answer.finish
  ]
  const { usage } = answer
  return {
    status: reason ? 'incomplete' : 'completed',
    incomplete_details: reason ? { reason } : null,
    error: null,
    usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      total_tokens: usage.input_tokens + usage.output_tokens,
      input_tokens_details: { cached_tokens: usage.cached_tokens },
      output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    },
  }
}

function eventsOf(item: Item, output_index: number): string[] {
  const at = { item_id: item.id, output_index }
  const added = (fields: object) => named('response.output_item.added', { output_index, item: { ...item, ...fields } })
  const done = named('response.output_item.done', { output_index, item })
  switch (item.type) {
    case 'reasoning': {
      const text = (item.summary as { text: string }[])[0]?.text ?? ''
      const part = { ...at, summary_index: 0 }
      return [
        added({ summary: [], encrypted_content: '' }),
        named('response.reasoning_summary_part.added', part),
        ...words(text).map((delta) => named('response.reasoning_summary_text.delta', { ...part, delta })),
        named('response.reasoning_summary_part.done', part),
        done,
      ]
    }
    case 'message': {
      const text = (item.content as { text: string }[])[0]?.text ?? ''
      const deltas = words(text).map((delta) => named('response.output_text.delta', { ...at, delta }))
      return [added({ content: [] }), ...deltas, done]
    }
    default: {
      const deltas = halves(String(item.arguments)).map((delta) =>
        named('response.function_call_arguments.delta', { ...at, delta }),
      )
      return [added({ arguments: '' }), ...deltas, done]
    }
  }
}

const created = named('response.created', { response: { ...head, status: 'in_progress', output: [] } })

export const responses: Protocol = {
  base: '/v1',
  accepts: (path) => path === '/v1/responses',
  isStream: asksForStream,
  /** An answer is several items here; those of one stand together. */
  turns: (body) => {
    const { input } = JSON.parse(body.toString()) as { input: { type?: string; role?: string }[] }
    const ours = input.map(
      (item) => item.role === 'assistant' || item.type === 'function_call' || item.type === 'reasoning',
    )
    return ours.filter((own, index) => own && !ours[index - 1]).length
  },
  whole: (answer) => ({ ...head, output: itemsOf(answer), ...outcomeOf(answer) }),
  events: (answer) => {
    const items = itemsOf(answer)
    const outcome = outcomeOf(answer)
    const response = { ...head, output: items, ...outcome }
    return [created, ...items.flatMap(eventsOf), named(`response.${outcome.status}`, { response })]
  },
  opening: [created, named('response.output_item.added', { output_index: 0, item: { type: 'message', id: 'msg_0' } })],
  tick: named('response.output_text.delta', { item_id: 'msg_0', output_index: 0, delta: 'word ' }),
  error: (type, message) => ({ ...head, status: 'failed', error: { code: type, message }, output: [], usage: null }),
  errorEvent: (type, message) =>
    named('response.failed', {
      sequence_number: 3,
      response: { ...head, status: 'failed', error: { code: type, message } },
    }),
}
