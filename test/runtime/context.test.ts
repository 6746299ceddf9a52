import { describe, expect, it } from 'vitest'
import { bench, dataOf, runToEnd } from '../support/bench.js'

const big = (letter: string) => `${`${letter}${letter}${letter} `.repeat(15)}\n`.repeat(80)
const files = { 'a.txt': big('a'), 'b.txt': big('b'), 'c.txt': big('c'), 'd.txt': big('d'), 'e.txt': big('e') }
const read = (path: string) => ({ calls: [{ read_file: { path } }] })

describe('a conversation that grows too long', () => {
  it('has its old tool results masked first, oldest first, and they can be read again', async () => {
    const { retinue, model } = await bench(
      {
        root: [
          read('a.txt'),
          read('b.txt'),
          read('c.txt'),
          read('d.txt'),
          { calls: [{ read_output: { output: 'c1', limit: 100 } }] },
          { expect: 'aaa', text: 'Read them all.' },
        ],
      },
      { files },
    )
    const { result, events } = await runToEnd(retinue, { budget: { context_tokens: 8000 } })
    expect(result.outcome).toBe('completed')
    const [masked] = dataOf(events, 'context.masked')
    expect(masked?.call_ids[0]).toBe('c1')
    expect(dataOf(events, 'context.summarized')).toEqual([])
    const last = JSON.stringify(model.requests.at(-1)?.request.messages)
    expect(last).toContain('characters removed to save space')
    expect(await retinue.replay(result.run_id)).toMatchObject({ ok: true })
    model.assertAllUsed()
  })

  it('is summarized when masking is not enough, keeps its task, and goes on', async () => {
    const chatter = (n: number) => ({
      text: `Thought ${n}: ${'so it goes on and on. '.repeat(120)}`,
      calls: [{ list_dir: {} }],
    })
    const { retinue, model } = await bench(
      {
        root: {
          steps: [...Array.from({ length: 12 }, (_, n) => chatter(n)), { text: 'Finished.' }],
          summary: [{ text: 'Twelve thoughts so far.' }, { text: 'Again.' }, { text: 'And again.' }],
        },
      },
      { files: { 'a.txt': '' }, settings: { delegation: { roles: false } } },
    )
    const { result, events } = await runToEnd(retinue, { task: 'Think hard', budget: { context_tokens: 6000 } })
    expect(result).toMatchObject({ outcome: 'completed', text: 'Finished.' })
    const summaries = dataOf(events, 'context.summarized')
    expect(summaries.length).toBeGreaterThan(0)
    const last = model.requests.at(-1)?.request.messages ?? []
    expect(last[0]).toEqual({ role: 'user', content: 'Think hard' })
    expect(JSON.stringify(last[1])).toContain('Summary of the work so far')
    for (const { estimated_tokens } of dataOf(events, 'model.requested'))
      expect(estimated_tokens).toBeLessThanOrEqual(6000)
    expect(await retinue.replay(result.run_id)).toMatchObject({ ok: true })
  })

  it('is made to fit for the last report too', async () => {
    const calls = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'].map((path) => ({ read_file: { path } }))
    const { retinue, model } = await bench({ root: { steps: [{ calls }], report: [{ text: 'So far.' }] } }, { files })
    const { result, events } = await runToEnd(retinue, { budget: { turns: 1, context_tokens: 6000 } })
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'turns', text: 'So far.' })
    for (const { estimated_tokens } of dataOf(events, 'model.requested'))
      expect(estimated_tokens).toBeLessThanOrEqual(6000)
    model.assertAllUsed()
  })

  it('ends openly when even a summary cannot make it small enough', async () => {
    const { retinue } = await bench({ root: [{ text: 'never' }] })
    const { result } = await runToEnd(retinue, { task: 'word '.repeat(5000), budget: { context_tokens: 3000 } })
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'context_tokens', text: '' })
  })

  it('is made smaller and sent again when the provider finds it too long', async () => {
    const { retinue, model } = await bench(
      {
        root: [read('a.txt'), read('b.txt'), read('c.txt'), { fail: { code: 'context_overflow' } }, { text: 'Done.' }],
      },
      { files },
    )
    const { result, events } = await runToEnd(retinue)
    expect(result.outcome).toBe('completed')
    expect(dataOf(events, 'context.masked')).toHaveLength(1)
    model.assertAllUsed()
  })
})

describe('every request of an agent', () => {
  it('starts with the one before it, so that prompt caches hold', async () => {
    const { retinue, model } = await bench(
      { root: [read('a.txt'), { text: 'x', ...read('b.txt') }, { text: 'Done.' }] },
      { files },
    )
    await runToEnd(retinue)
    const texts = model.requests.map(({ request }) =>
      JSON.stringify([request.system, request.tools, ...request.messages]).slice(0, -1),
    )
    for (let i = 1; i < texts.length; i++) expect(texts[i]?.startsWith(texts[i - 1] as string)).toBe(true)
  })
})

describe('an answer that is cut off at the output limit', () => {
  it('is asked to go on, and comes out whole', async () => {
    const { retinue, model } = await bench({
      root: [
        { text: 'The first half, ', finish_reason: 'length' },
        { expect: 'cut off', text: 'and the second.' },
      ],
    })
    const { result } = await runToEnd(retinue)
    expect(result).toMatchObject({ outcome: 'completed', text: 'The first half, and the second.' })
    model.assertAllUsed()
  })
})
