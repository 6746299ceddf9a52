import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cube } from '../src/cube.js'

test('cube', () => {
  const it = new Cube(2)
  assert.equal(it.volume(), 8)
  assert.equal(it.surface(), 24)
})
