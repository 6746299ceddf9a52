import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sphere } from '../src/sphere.js'

test('sphere', () => {
  const it = new Sphere(1)
  assert.equal(it.volume(), (4 / 3) * Math.PI)
  assert.equal(it.surface(), 4 * Math.PI)
})
