import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { connect, node, stateOf } from './connect.js'

const SERVER = fileURLToPath(new URL('./modern-server.mjs', import.meta.url))

it('servers of the newest kind are spoken to in their own way', async () => {
  const { connections, call, root } = await connect({ modern: node(SERVER) })
  expect(stateOf(connections, 'modern')).toMatchObject({ state: 'ready', version: '9.9.9', message: null })
  expect(await call('mcp__modern__add', { a: 1, b: 2 })).toMatchObject({ status: 'ok', content: '3' })
  expect((await call('mcp__modern__where', {})).content).toContain(`file://${root}`)
  expect(await call('mcp__modern__think', {})).toMatchObject({ status: 'error' })
  expect(await call('mcp__modern__change', {})).toMatchObject({ content: 'changed' })
  await expect
    .poll(async () => (await call('mcp__modern__goes', {})).content, { timeout: 100_000 })
    .toBe('the server modern no longer has the tool goes')
  const abort = new AbortController()
  const slow = call('mcp__modern__slow', {}, { signal: abort.signal })
  await call('mcp__modern__add', { a: 1, b: 2 })
  abort.abort()
  expect(await slow).toMatchObject({ status: 'cancelled' })
})
