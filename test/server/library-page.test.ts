import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeProject } from '../support/project.js'

const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
const section = page.split('\n## The window, in a program of yours\n')[1]?.split('\n## ')[0] ?? ''
const example = section.split('```ts\n')[1]?.split('```')[0] ?? ''

it('docs/library.md has an example of serving that runs, in a process of its own', () => {
  const dist = (name: string) => new URL(`../../dist/${name}.js`, import.meta.url).href
  const cwd = makeProject({})
  const program = example
    .replace("'retinue/server'", JSON.stringify(dist('server')))
    .replace("'retinue'", JSON.stringify(dist('index')))
  writeFileSync(join(cwd, 'program.mjs'), `${program}\nconsole.log(JSON.stringify(left))\n`)
  const said = execFileSync(process.execPath, ['program.mjs'], { cwd, encoding: 'utf8' })
  expect(said).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n\[\]\n$/)
})
