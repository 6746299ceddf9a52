import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handle } from '../src/api.js'

const around = { users: { ada: 'engine' }, secret: 'a long secret', now: () => 1_000 }
const basic = (name, password) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

test('whoever has a password gets their profile', () => {
  const answer = handle({ method: 'GET', path: '/profile', authorization: basic('ada', 'engine') }, around)
  assert.deepEqual(answer, { status: 200, body: { user: 'ada' } })
})

test('nobody else does', () => {
  for (const authorization of [undefined, basic('ada', 'wrong'), basic('eve', 'engine')]) {
    assert.equal(handle({ method: 'GET', path: '/profile', authorization }, around).status, 401)
  }
})
