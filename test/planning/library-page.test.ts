import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { family } from '../seeds/family.js'
import { playPage } from '../support/pages.js'

const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
const section = page.split('\n## Plans\n')[1]?.split('\n## ')[0] ?? ''
const example = section.split('```ts\n')[1]?.split('```')[0] ?? ''

it('docs/library.md has an example of plans that runs', async () => {
  const plan = {
    version: 1,
    goal: 'Every page has a title',
    steps: [{ title: 'Titles', description: 'Write them', agent: 'executor', owns: ['pages/**'] }],
  }
  const { retinue, model } = await family({
    a1: [{ text: 'index.html' }],
    a2: [{ text: JSON.stringify(plan) }],
    'a*': [{ text: 'Done.' }],
  })
  expect(await playPage(example, { retinue })).toEqual([[['1: executor, wave 1']], ['completed', ['1 completed']]])
  expect(model.requests.map(({ caller }) => caller.agent_id)).toEqual(['a1', 'a2', 'a1'])
})
