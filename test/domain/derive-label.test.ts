import fc from 'fast-check'
import { expect, it } from 'vitest'
import { root, tryChild } from './deriving.js'

const LABELS = [undefined, 'gpu', 'office']
const label = fc.constantFrom(...LABELS)
const of = (name: string | undefined) => (name === undefined ? {} : { label: name })

function labelOf({ above, profile, request }: Record<'above' | 'profile' | 'request', string | undefined>) {
  const made = tryChild({ above: root({ profile: of(above) }), profile: of(profile), request: of(request) })
  if (!made.ok) return made.message
  const { execution, adjustments } = made.contract
  return { label: execution.label, adjusted: adjustments.filter(({ field }) => field === 'execution.label') }
}

const none = { above: undefined, profile: undefined, request: undefined }

it('a sub-agent has the label that its profile says, else the one that was asked for, else none', () => {
  expect(labelOf(none)).toEqual({ label: undefined, adjusted: [] })
  expect(labelOf({ ...none, request: 'gpu' })).toEqual({ label: 'gpu', adjusted: [] })
  expect(labelOf({ ...none, profile: 'gpu' })).toEqual({ label: 'gpu', adjusted: [] })
  const reason = 'the profile helper has a label of its own'
  expect(labelOf({ ...none, profile: 'gpu', request: 'office' })).toEqual({
    label: 'gpu',
    adjusted: [{ field: 'execution.label', asked: 'office', given: 'gpu', reason }],
  })
})

it('it stays where its parent is bound to, and is refused where it would have to be in two places', () => {
  expect(labelOf({ ...none, above: 'gpu' })).toEqual({ label: 'gpu', adjusted: [] })
  expect(labelOf({ ...none, above: 'gpu', request: 'office' })).toBe(
    'Not spawned: it needs a worker with the label office, and its parent is bound to those with gpu.',
  )
})

it('nobody below an agent with a label is ever anywhere else', () => {
  fc.assert(
    fc.property(label, label, label, (above, profile, request) => {
      const made = labelOf({ above, profile, request })
      if (above === undefined || typeof made === 'string') return
      expect(made.label).toBe(above)
    }),
  )
})

it('what is no plain name is refused', () => {
  expect(labelOf({ ...none, request: 'GPU box' })).toMatch(/^Not spawned: execution\.label: a label has at most 40/)
})
