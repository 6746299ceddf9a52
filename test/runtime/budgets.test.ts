import { describe, expect, it } from 'vitest'
import { bench, dataOf, runToEnd } from '../support/bench.js'
import { running } from '../support/processes.js'

const read = { calls: [{ read_file: { path: 'a.txt' } }] }
const files = { 'a.txt': 'a\n' }

describe('when a budget ends an agent', () => {
  it('tool calls: the next call is refused, not made, and one last call without tools asks for a report', async () => {
    const { retinue, model } = await bench(
      {
        root: {
          steps: [read, { calls: [{ read_file: { path: 'a.txt' } }, { list_dir: {} }, { list_dir: {} }] }],
          report: [{ expect: 'The budget of 2 tool calls is used up.', text: 'Read a.txt; the rest is open.' }],
        },
      },
      { files },
    )
    const { result, events } = await runToEnd(retinue, { budget: { tool_calls: 2 } })
    expect(result).toMatchObject({
      outcome: 'budget_exceeded',
      cause: 'tool_calls',
      reason: 'The budget of 2 tool calls is used up.',
      text: 'Read a.txt; the rest is open.',
      tool_calls: 2,
    })
    expect(dataOf(events, 'tool.refused').map(({ code }) => code)).toEqual(['budget', 'budget'])
    expect(dataOf(events, 'tool.called')).toHaveLength(2)
    expect(model.requests.at(-1)?.request.tool_choice).toBe('none')
    model.assertAllUsed()
  })

  it('turns: the model is not asked again but for the report', async () => {
    const { retinue, model } = await bench({ root: { steps: [read, read], report: [{ text: 'So far.' }] } }, { files })
    const { result } = await runToEnd(retinue, { budget: { turns: 2 } })
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'turns', text: 'So far.', turns: 2 })
    model.assertAllUsed()
  })

  it('total tokens: the call that would pass the limit is not made, and the report still fits into it', async () => {
    const usage = { input_tokens: 4000, output_tokens: 500 }
    const { retinue, model } = await bench(
      {
        root: {
          steps: [
            { ...read, usage },
            { ...read, usage },
          ],
          report: [{ text: 'So far.', usage: { input_tokens: 5000, output_tokens: 100 } }],
        },
      },
      { files },
    )
    const { result } = await runToEnd(retinue, { budget: { total_tokens: 16_000 } })
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'total_tokens', text: 'So far.' })
    expect(result.usage.input_tokens + result.usage.output_tokens).toBeLessThanOrEqual(16_000)
    model.assertAllUsed()
  })

  it('total tokens, on a server that does not count: estimated, said so, and held', async () => {
    const { retinue } = await bench({ root: { steps: Array(50).fill(read), report: [{ text: 'So far.' }] } }, { files })
    const { result, events } = await runToEnd(retinue, { budget: { total_tokens: 20_000 } })
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'total_tokens' })
    expect(result.turns).toBeLessThan(50)
    expect(new Set(dataOf(events, 'model.responded').map(({ usage_source }) => usage_source))).toEqual(
      new Set(['estimate']),
    )
  })

  it('time: the model call is aborted at the deadline and the outcome is timeout', async () => {
    const { retinue } = await bench({ root: [{ text: 'late', delay_ms: 60_000 }] }, { files })
    const { result } = await runToEnd(retinue, { budget: { wall_ms: 5000 } })
    expect(result).toMatchObject({ outcome: 'timeout', cause: 'wall_ms', text: '' })
    expect(result.duration_ms).toBeLessThan(40_000)
  })

  it('time: a command is ended with everything it started', async () => {
    // The length of the nap tells these from all other processes of the machine.
    const nap = `1000.${process.pid}`
    const { retinue } = await bench(
      { root: [{ calls: [{ run_command: { command: `setsid sleep ${nap} & sleep ${nap}` } }] }] },
      { settings: { mode: 'dangerous' } },
    )
    const { result, events } = await runToEnd(retinue, { budget: { wall_ms: 5000 } })
    expect(result).toMatchObject({ outcome: 'timeout', cause: 'wall_ms' })
    expect(dataOf(events, 'tool.finished')).toMatchObject([{ status: 'timeout' }])
    expect(running('sleep', nap)).toEqual([])
  })

  it('is refused when it makes no sense', async () => {
    const { retinue } = await bench({ root: [] })
    await expect(retinue.run({ task: 'x', budget: { tool_calls: 0 } }).result()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('tool_calls must be positive'),
    })
    await expect(retinue.run({ task: 'x', budget: { wall_ms: 100 } }).result()).rejects.toMatchObject({
      message: expect.stringContaining('wall_ms must be at least 5000'),
    })
    await expect(retinue.run({ task: 'x', budget: { cost_usd: 1 } }).result()).rejects.toMatchObject({
      message: expect.stringContaining('cost_usd'),
    })
  })
})
