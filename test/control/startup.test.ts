import { expect, it, vi } from 'vitest'
import { load } from './load.js'

it('loads the YAML parser only where there is a file', async () => {
  let loads = 0
  vi.doMock('yaml', async (original) => {
    loads++
    return await original()
  })
  await load({})
  expect(loads).toBe(0)
  await load({ user: 'mode: plan' })
  expect(loads).toBe(1)
})
