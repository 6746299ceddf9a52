import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createModels } from '../../src/models/index.js'
import { startLoopback } from '../support/loopback/index.js'
import { ask, options } from './lab.js'
import { must } from './pools-lab.js'

function isLoaded(): boolean {
  return Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('genai-prices'))
}

test('the table of prices is loaded when a price is first asked for, and never for a server of this machine', async () => {
  const server = await startLoopback({ protocol: 'chat', steps: [{ text: 'hi' }] })
  const models = createModels({
    env: { OPENAI_API_KEY: 'k' },
    providers: { local: { type: 'openai-compatible', base_url: server.url } },
    pools: { both: ['openai/gpt-5', 'local/m'] },
  })
  const local = await must(models.resolve('local/m'))
  expect(await local.generate(ask(), options())).toMatchObject({ ok: true, cost_usd: null })
  expect(local.price).toBe(undefined)
  const [openai] = await Promise.all([must(models.resolve('openai/gpt-5')), must(models.resolve('both'))])
  expect(isLoaded()).toBe(false)
  expect(openai.price).toBeTypeOf('function')
  expect(isLoaded()).toBe(true)
  await server.close()
})
