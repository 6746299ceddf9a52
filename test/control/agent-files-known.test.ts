import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  type AgentFileSurroundings,
  createHost,
  discoverAgentFiles,
  type KnownAgentFiles,
  openRetinue,
} from '../../src/index.js'
import { makeProject } from '../support/project.js'

const file = (description: string) => `---\ndescription: ${description}\n---\nDo it.\n`

it('what changes in the folders is noticed by the next run', async () => {
  const cwd = makeProject({ '.claude/agents/one.md': file('First.') })
  const home = makeProject({})
  const retinue = await openRetinue({ cwd, env: { HOME: home } })
  onTestFinished(() => retinue.close())
  const seen = async () => {
    const { agents } = await retinue.choices()
    return Object.fromEntries(agents.filter(({ name }) => /^(one|two)$/.test(name)).map((a) => [a.name, a.description]))
  }
  expect(await seen()).toEqual({ one: 'First.' })
  // As long as it was, and maybe within the same tick of the clock.
  writeFileSync(join(cwd, '.claude/agents/one.md'), file('Fresh.'))
  expect(await seen()).toEqual({ one: 'Fresh.' })
  mkdirSync(join(home, '.retinue/agents'), { recursive: true })
  writeFileSync(join(home, '.retinue/agents/two.md'), file('Second.'))
  writeFileSync(join(home, '.retinue/agents/one.md'), file('Mine.'))
  expect(await seen()).toEqual({ one: 'Mine.', two: 'Second.' })
  rmSync(join(home, '.retinue'), { recursive: true })
  expect(await seen()).toEqual({ one: 'Fresh.' })
  rmSync(join(cwd, '.claude'), { recursive: true })
  expect(await seen()).toEqual({})
})

it('a file is parsed again only where its text is another', async () => {
  const project_dir = makeProject({ '.claude/agents/one.md': file('One.'), '.claude/agents/two.md': file('Two.') })
  const home = makeProject({})
  const places = { project_dir, home, config_home: join(home, '.config') }
  const surroundings: AgentFileSurroundings = { tools: [], pools: [], models_listed: null }
  const known: KnownAgentFiles = new Map()
  const read = async () => {
    await discoverAgentFiles(createHost(), places, surroundings, known)
    return [...known.values()].map(({ parsed }) => parsed)
  }
  const [one, two] = await read()
  writeFileSync(join(project_dir, '.claude/agents/two.md'), file('Too.'))
  const [again, other] = await read()
  expect(again).toBe(one)
  expect(other).not.toBe(two)
  expect(other?.profile?.description).toBe('Too.')
})
