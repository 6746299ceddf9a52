import { expect, it } from 'vitest'
import { aboutOf } from '../../src/domain/index.js'

it('says what a run is about in a line', () => {
  expect(aboutOf('\n Add a\n  theme \n\nIt should be dark.')).toBe('Add a theme')
})
