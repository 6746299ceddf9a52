import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'

/** 1,000 tokens read, 100 of them from the cache, and 50 written: 0.0900 + 0.0010 + 0.0500 dollars at these prices. */
const PRICES = { input: 100, cached_input: 10, output: 1000 }
const USAGE = { input_tokens: 1000, cached_tokens: 100, output_tokens: 50 }
const TURN_USD = 0.141

const look = (n: number): LoopbackStep => ({ calls: [{ name: 'read_file', args: { path: `${n}.txt` } }], usage: USAGE })

/** A project whose model is a server on loopback, with prices or without. */
async function project(steps: LoopbackStep[], prices: object | null) {
  const server = await startLoopback({ protocol: 'chat', steps })
  onTestFinished(() => server.close())
  const files = Object.fromEntries(steps.map((_, i) => [`${i}.txt`, `file ${i}\n`]))
  const cwd = makeProject(files)
  const config_home = makeProject({ 'retinue/config.yaml': '' })
  const provider = {
    type: 'openai-compatible',
    base_url: `${server.url}`,
    ...(prices ? { prices: { '*': prices } } : {}),
  }
  const config = { model: 'here/m', providers: { here: provider } }
  writeFileSync(join(config_home, 'retinue/config.yaml'), JSON.stringify(config))
  const run = (...args: string[]) => retinue(args, { cwd, env: { XDG_CONFIG_HOME: config_home } })
  return { server, run }
}

describe('what a run costs', () => {
  it('is the sum of its calls, in the result, in the list and for a person', async () => {
    const { run } = await project([look(0), look(1), { text: 'Done.', usage: USAGE }], PRICES)
    const ended = await run('Read them', '--output-format', 'stream-json')
    const said = lines(ended.stdout) as { type: string; data?: { cost_usd: number }; cost_usd?: number }[]
    const costs = said.filter(({ type }) => type === 'model.responded').map(({ data }) => data?.cost_usd)
    expect(costs).toEqual([0, 1, 2].map(() => expect.closeTo(TURN_USD, 10)))
    expect(said.at(-1)).toMatchObject({ type: 'result', cost_usd: expect.closeTo(3 * TURN_USD, 10) })
    const [row] = lines((await run('runs', '--json')).stdout) as { cost_usd: number; unpriced_calls: number }[]
    expect(row).toMatchObject({ cost_usd: expect.closeTo(3 * TURN_USD, 10), unpriced_calls: 0 })
    expect((await run('runs')).stdout).toContain('$0.42')
  })

  it('is said to be unknown where it is', async () => {
    const { run } = await project([{ text: 'Done.', usage: USAGE }], null)
    const ended = await run('Say it', '--output-format', 'json')
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: 'completed', cost_usd: null })
    expect((await run('runs')).stdout).toContain('cost unknown')
  })
})

describe('--max-budget-usd', () => {
  it('ends a run before it is spent, with a report', async () => {
    const steps = [...Array.from({ length: 8 }, (_, i) => look(i)), { text: 'never', usage: USAGE }]
    const { run, server } = await project(steps, PRICES)
    const ended = await run('Read them all', '--max-budget-usd', '0.9', '--output-format', 'json')
    const result = JSON.parse(ended.stdout)
    expect(result).toMatchObject({ outcome: 'budget_exceeded', cause: 'cost_usd' })
    expect(result.cost_usd).toBeLessThanOrEqual(0.9)
    expect(server.requests.length).toBeLessThan(8)
    expect(ended.code).not.toBe(0)
  })

  it('is refused where prices are not known, before anything is asked', async () => {
    const { run, server } = await project([{ text: 'Done.', usage: USAGE }], null)
    const ended = await run('Say it', '--max-budget-usd', '1')
    expect(ended.stderr).toMatch(/cost_usd cannot be enforced: the price of here\/m is not known/)
    expect(ended.code).toBe(42)
    expect(server.requests).toHaveLength(0)
  })

  it.each(['0', '-1', 'much'])('does not take %s', async (amount) => {
    const { run } = await project([{ text: 'Done.' }], PRICES)
    expect(await run('Say it', '--max-budget-usd', amount)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('amount in US dollars'),
    })
  })
})
