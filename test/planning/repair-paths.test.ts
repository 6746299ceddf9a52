import { expect, it } from 'vitest'
import type { PlanState } from '../../src/domain/index.js'
import { repairSteps } from '../../src/planning/reviewing.js'
import { stepSpec } from '../../src/planning/steps.js'

/** What a repair may write where the plan owns this and a finding names these files. */
function owned(owns: string[], files: string[]) {
  const work = stepSpec('work', { id: 'one', title: 'One', description: 'One', owns })
  const state = { steps: [{ ...work, attempts: [], ended: null }], reviews: [] } as unknown as PlanState
  const [repair] = repairSteps([{ title: 'Wrong', description: 'It is wrong', files }], state, 0)
  return repair?.owns
}

it('a finding in a file of the plan has that file mended alone', () => {
  expect(owned(['docs/**'], ['docs/a.md'])).toEqual(['docs/a.md'])
})

it.each([
  ['**/*.md', '{.md/,**}'],
  ['**/*.md', '{**,x.md}.md'],
  ['**/*.md', '*.md'],
  ['docs/**', 'docs/{a,../../b}'],
  ['docs/**', 'docs/?.md'],
  ['docs/**', 'docs/[ab].md'],
  ['docs/**', '!docs/a.md'],
  ['docs/**', 'docs/\\*'],
  ['?', '.'],
  ['?/x.md', './x.md'],
  ['src/*/*', 'src//'],
  ['docs/**', 'docs/../a.md'],
  ['*', ''],
])('where the plan owns %s, a finding in %j does not say what is mended', (owns, file) => {
  expect(owned([owns], [file])).toEqual([owns])
})

it('the files that are plain are taken, and the others left', () => {
  expect(owned(['docs/**'], ['docs/{a,b}', 'docs/a.md'])).toEqual(['docs/a.md'])
})
