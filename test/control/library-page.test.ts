import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { family } from '../seeds/family.js'
import { playPage } from '../support/pages.js'

const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
const section = page.split('\n## Agents, pins and sessions\n')[1]?.split('\n## ')[0] ?? ''
const example = section.split('```ts\n')[1]?.split('```')[0] ?? ''

it('docs/library.md has an example of agents, pins and sessions that runs', async () => {
  const { retinue, model } = await family({ a1: [{ text: 'Outlined.' }], root: [{ text: 'Written.' }] })
  expect(await playPage(example, { retinue })).toEqual([[true, 'Written.', 'success', 8]])
  const root = model.requests.find(({ caller }) => caller.agent_id === 'root')
  expect(root?.request.system).toMatch(/Write plainly\.$/)
})
