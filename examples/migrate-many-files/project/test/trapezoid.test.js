import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trapezoid } from '../src/trapezoid.js'

test('trapezoid', () => {
  const it = new Trapezoid(4, 2, 3)
  assert.equal(it.area(), 9)
})
