import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Circle } from '../src/circle.js'

test('circle', () => {
  const it = new Circle(1)
  assert.equal(it.area(), Math.PI)
  assert.equal(it.perimeter(), 2 * Math.PI)
})
