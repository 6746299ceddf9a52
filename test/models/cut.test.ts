import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Model } from '../../src/models/index.js'
import {
  type Asked,
  eventBorders,
  type Loopback,
  type LoopbackStep,
  renderAnswer,
  startLoopback,
} from '../support/loopback/index.js'
import { ask, openModel, options, WAYS } from './lab.js'

const STEP: LoopbackStep = {
  reasoning: 'Hm – 日本.',
  text: 'Look: “care”.',
  calls: [
    { name: 'read_file', args: { path: 'a' } },
    { name: 'read_file', args: { path: 'b' } },
  ],
  usage: { input_tokens: 120, output_tokens: 30, cached_tokens: 100 },
}

const HOW = ['end', 'fin', 'rst'] as const
type How = (typeof HOW)[number]

const EVERY = 13
const SIDE_BY_SIDE = 16

/** Every so many bytes, and each place where an event ends, with the byte before it. */
function offsets(borders: number[], length: number): number[] {
  const chosen = new Set<number>()
  for (let at = 0; at < length; at += EVERY) chosen.add(at)
  for (const border of borders) for (const at of [border - 1, border]) chosen.add(at)
  return [...chosen].filter((at) => at >= 0 && at < length).sort((a, b) => a - b)
}

describe.each(WAYS)('a connection over $way that is cut', (way) => {
  let server: Loopback
  let model: Model

  beforeAll(async () => {
    const steps = ({ body }: Asked): LoopbackStep => {
      const [, how, after_bytes] = /cut (\w+) at (\d+)/.exec(JSON.stringify(body)) ?? []
      return how ? { ...STEP, fault: { kind: 'cut', after_bytes: Number(after_bytes), how: how as How } } : STEP
    }
    server = await startLoopback({ protocol: way.protocol, steps, record: false })
    model = await openModel(way, server.url)
  })
  afterAll(() => server.close())

  async function cutAt(places: number[], how: How, streamed: boolean) {
    const answers = []
    for (let from = 0; from < places.length; from += SIDE_BY_SIDE) {
      const calls = places.slice(from, from + SIDE_BY_SIDE).map((place) => {
        const request = ask([{ role: 'user', content: `cut ${how} at ${place}` }])
        return model.generate(request, options(streamed ? { onDelta: () => {} } : {}))
      })
      answers.push(...(await Promise.all(calls)))
    }
    return answers
  }

  test.each(HOW)('in a stream, at any byte (%s), is never taken for an answer', async (how) => {
    const complete = await model.generate(ask(), options({ onDelta: () => {} }))
    const length = renderAnswer(way.protocol, STEP, 0, true).length
    const borders = eventBorders(way.protocol, STEP, 0)
    // A clean end is the one that can be mistaken: looked at closely. The others are the platform's to notice.
    const all = offsets(borders, length)
    const places = how === 'end' ? all : all.filter((_, index) => index % 12 === 0)
    const answers = await cutAt(places, how, true)
    for (const [index, answer] of answers.entries()) {
      if (answer.ok) {
        // The end mark had come. What may be missing is the count of tokens, and only where servers need not send it.
        const expected = way.way === 'openai-compatible' ? { ...complete, usage: answer.usage } : complete
        expect(answer, `cut at ${places[index]}`).toEqual(expected)
        expect(places[index]).toBeGreaterThanOrEqual(borders.at(-3) ?? 0)
        expect(way.protocol).toBe('chat')
      } else {
        expect(answer).toMatchObject({ ok: false, code: 'network' })
      }
    }
  })

  test.each(HOW)('in a whole answer, at any byte (%s), is never taken for one', async (how) => {
    const length = renderAnswer(way.protocol, STEP, 0, false).length
    const places = offsets([], length).filter((_, index) => index % (how === 'end' ? 2 : 8) === 0)
    for (const answer of await cutAt(places, how, false)) {
      expect(answer).toMatchObject({ ok: false, code: how === 'end' ? 'bad_output' : 'network' })
    }
  })
})
