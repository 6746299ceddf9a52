import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cylinder } from '../src/cylinder.js'

test('cylinder', () => {
  const it = new Cylinder(1, 3)
  assert.equal(it.volume(), Math.PI * 3)
})
