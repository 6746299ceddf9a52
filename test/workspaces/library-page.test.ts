import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { family } from '../seeds/family.js'
import { playPage } from '../support/pages.js'
import { tree } from '../support/project.js'

const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
const section = page.split('\n## What sub-agents wrote\n')[1]?.split('\n## ')[0] ?? ''
const [spawned = '', kept = ''] = section
  .split('```ts\n')
  .slice(1)
  .map((example) => example.split('```')[0] ?? '')

const writes = (path: string) => [{ calls: [{ write_file: { path, content: 'text\n' } }] }, { text: 'Done.' }]

describe('docs/library.md', () => {
  it('has an example of a check of paths and a receipt that runs', async () => {
    const { retinue, cwd } = await family({ a1: writes('docs/gutters.md') }, { files: { 'docs/index.md': 'index\n' } })
    const [said] = await playPage(spawned, { retinue })
    expect(said).toMatchObject([[{ path: 'docs/gutters.md', kind: 'added' }], { kind: 'fast_forward' }])
    expect(tree(cwd)).toMatchObject({ 'docs/gutters.md': 'text\n' })
  })

  it('has an example of what runs keep on branches that runs', async () => {
    const failing = { task: 'Two', owns: ['two.md'], checks: ['false'] }
    const calls = [{ spawn_agent: { task: 'One', owns: ['one.md'] } }, { spawn_agent: failing }]
    const agents = { root: [{ calls }, { text: 'Done.' }], a1: writes('one.md'), a2: writes('two.md') }
    const { retinue, cwd } = await family(agents, { files: { 'a.md': 'a\n' } })
    const [stat, below, trees] = await playPage(kept, { retinue })
    expect(stat?.[0]).toContain('1 file changed')
    expect(below).toMatchObject(['a2', 'gate_failed', expect.stringContaining('b/two.md')])
    expect(trees).toEqual([[]])
    expect(tree(cwd)).toMatchObject({ 'one.md': 'text\n', 'two.md': 'text\n' })
  })
})
