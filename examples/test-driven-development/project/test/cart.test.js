import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from '../src/cart.js'

test('the total is that of all items', () => {
  assert.equal(
    total([
      { price: 250, count: 2 },
      { price: 100, count: 1 },
    ]),
    600,
  )
})

test('an empty cart costs nothing', () => {
  assert.equal(total([]), 0)
})
