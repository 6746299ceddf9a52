import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit.js'
import { createProgram } from '../../src/cli/main.js'
import { ERROR_CODES, OUTCOMES } from '../../src/index.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = [
  'README.md',
  'AGENTS.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((f) => `docs/${f}`),
].filter((f) => f.endsWith('.md'))

describe('the docs', () => {
  it('name every command and every option of the command line, and no others', () => {
    const text = read('docs/cli.md') + read('README.md')
    const program = createProgram()
    for (const command of program.commands) expect(text).toContain(`retinue ${command.name()}`)
    const all = program.commands.flatMap((command) => [command, ...command.commands])
    const known = new Set(all.flatMap((command) => command.options.map((option) => option.long)))
    const shown =
      program.commands.find((command) => command.name() === 'run')?.options.filter((option) => !option.hidden) ?? []
    for (const option of shown) expect(text).toContain(option.long)
    const agents = program.commands.find((command) => command.name() === 'agents')?.commands ?? []
    for (const command of agents) {
      expect(text).toContain(`retinue agents ${command.name()}`)
      for (const option of command.options) expect(text).toContain(option.long)
    }
    const mentioned = [...read('docs/cli.md').matchAll(/--[a-z][a-z-]+/g)].map(([option]) => option)
    expect(mentioned.filter((option) => !known.has(option) && option !== '--help')).toEqual([])
  })

  it('give every exit code its meaning', () => {
    const codes = [...read('docs/cli.md').matchAll(/^\| (\d+)\s*\|/gm)].map((match) => Number(match[1]))
    expect(codes).toEqual([...new Set(Object.values(EXIT))])
  })

  it('name every error code of the library', () => {
    for (const code of ERROR_CODES) expect(read('docs/library.md')).toContain(`\`${code}\``)
    for (const outcome of ['completed', 'budget_exceeded', 'timeout', 'cancelled', 'error'])
      expect(OUTCOMES).toContain(outcome)
  })

  it('link to pages that are there', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] as string)
        .filter((target) => !target.startsWith('http') && !existsSync(join(ROOT, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    )
    expect(broken).toEqual([])
  })
})
