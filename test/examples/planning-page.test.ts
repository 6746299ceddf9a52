import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/main.js'
import { family } from '../seeds/family.js'
import { retinue } from '../support/cli.js'
import { playPage } from '../support/pages.js'
import { git, makeProject } from '../support/project.js'

const page = readFileSync(new URL('../../docs/planning.md', import.meta.url), 'utf8')

const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] as string)

/** Files of the page, by the name in their first line. */
const files = Object.fromEntries(blocks('yaml').map((text) => [/^# (\S+)\n/.exec(text)?.[1] ?? '', text]))

/** Commands of the page, each as the words that a shell would make of it. */
const commands = blocks('sh')
  .flatMap((block) => block.trim().split('\n'))
  .map((line) => line.replace(/ +#.*$/, ''))
  .map((line) => [...line.matchAll(/"([^"]*)"|\S+/g)].map((match) => match[1] ?? match[0]))

describe('docs/planning.md', () => {
  it('has a plan in a file that is sound, shown and carried out as the page says', async () => {
    expect(Object.keys(files)).toEqual(['roof.yaml', 'roof-script.yaml'])
    const cwd = makeProject(files, { git: true })
    const said = commands.filter((words) => words.join(' ').includes('roof'))
    const [check, show, , , play] = said.map((words) => words.slice(1))
    // To look at a plan no model is asked, but there must be one.
    const env = { ANTHROPIC_API_KEY: 'none' }
    for (const words of [check, show, play]) {
      const { code, stderr } = await retinue(words ?? [], { cwd, env })
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr })
    }
    expect(git(cwd, 'status', '--porcelain')).toBe('?? gutters.md\n?? index.md\n?? slates.md\n')
  })

  it('names commands and options that there are', () => {
    const program = createProgram()
    for (const [first, ...words] of commands.filter(([word]) => word === 'retinue')) {
      const names = words.filter((word) => /^[a-z]+$/.test(word))
      const command = program.commands.find((one) => one.name() === names[0])
      expect([first, ...words, command?.name()]).toEqual([first, ...words, names[0]])
      const named = (name: string | undefined) => command?.commands.find((one) => one.name() === name)
      const inner = named(names[1]) ?? named('make') ?? command
      const known = [...(inner?.options ?? []), ...(command?.options ?? [])].flatMap(({ long, short }) => [long, short])
      for (const flag of words.filter((word) => word.startsWith('-'))) expect(known).toContain(flag)
    }
  })

  it('has a program that runs', async () => {
    const plan = { version: 1, goal: 'Two pages', steps: [{ description: 'Look at the roof', agent: 'researcher' }] }
    const branches = [
      { when: { contains: ['Make a plan', 'Little.'] }, steps: [{ text: JSON.stringify(plan) }] },
      { when: { contains: 'What do we know about the roof?' }, steps: [{ text: 'Little.' }] },
      { when: { contains: 'Look at the roof' }, steps: [{ text: 'It is wet.' }] },
    ]
    const { retinue } = await family({ 'a*': [{ branches }] })
    const [example = ''] = blocks('ts')
    const printed = await playPage(example, { retinue })
    expect(printed.at(-1)).toEqual(['completed', 1, expect.stringContaining('Look at the roof')])
  })
})
