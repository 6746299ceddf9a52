import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rectangle } from '../src/rectangle.js'

test('rectangle', () => {
  const it = new Rectangle(2, 3)
  assert.equal(it.area(), 6)
  assert.equal(it.perimeter(), 10)
})
