import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/main.js'

describe('the page about the command line', () => {
  it('names every command about plans, and every option of them', () => {
    const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    const plan = createProgram().commands.find((command) => command.name() === 'plan')
    const names = plan?.commands.map((command) => command.name()) ?? []
    expect(names).toEqual(['make', 'run', 'show', 'edit', 'list', 'check'])
    const options = plan?.commands.flatMap((command) => command.options.filter(({ hidden }) => !hidden)) ?? []
    const said = [...names.map((name) => `retinue plan ${name}`), ...options.map(({ long }) => long as string)]
    expect(said.filter((words) => !text.includes(words))).toEqual([])
  })
})
