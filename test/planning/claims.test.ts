import fc from 'fast-check'
import { expect, it } from 'vitest'
import '../support/seed.js'
import { mayOverlap, type StepState } from '../../src/domain/index.js'
import { claimsOf } from '../../src/planning/claims.js'

const PIECE = fc.constantFrom(
  'a',
  'A',
  'b',
  'ab',
  '/',
  '/',
  '.',
  './',
  '*',
  '**',
  '/**',
  '?',
  '{a,b}',
  '{',
  'é',
  'e\u0301',
  'É',
)
const GLOB = fc.array(PIECE, { maxLength: 5 }).map((pieces) => pieces.join(''))
const OWNS = fc.oneof(
  { weight: 9, arbitrary: fc.array(GLOB, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
)

it('finds the same rivals as comparing everything with everything', () => {
  const property = fc.property(fc.array(OWNS, { minLength: 2, maxLength: 6 }), (all) => {
    const steps = all.map((owns, i) => ({ id: `s${i}`, owns }) as StepState)
    const claims = claimsOf(steps)
    const pairs = steps.flatMap((a) => steps.flatMap((b) => (a.id < b.id ? [{ a, b }] : [])))
    const named = ({ a, b }: (typeof pairs)[0]) => `${a.id} and ${b.id}`
    const found = pairs.filter(({ a, b }) => {
      const [one, other] = [claims.get(a.id), claims.get(b.id)]
      return one && other && one.rivals.has(other) && other.rivals.has(one)
    })
    expect(found.map(named)).toEqual(pairs.filter(({ a, b }) => mayOverlap(a.owns ?? [], b.owns ?? [])).map(named))
  })
  fc.assert(property, { numRuns: 5000 })
})
