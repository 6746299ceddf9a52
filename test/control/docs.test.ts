import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createConfigSchema, documentConfig, formatProblems, starterConfig } from '../../src/control/index.js'
import { profileSchema } from '../../src/domain/index.js'
import { DEFAULT_LIMITS } from '../../src/tools/tool.js'
import { load, PROJECT, surroundings, USER_FILE } from './load.js'

/** What a project's file never says. */
const USER_ONLY = ['engine', 'workers', 'principals', 'server', 'trusted_projects']
const KEYS = Object.keys(createConfigSchema(surroundings).shape)

async function sourceOf(files: Record<string, string>) {
  const loaded = await load(files)
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems))
  return loaded
}

function topKeys(keys: string[]): string[] {
  return [...new Set(keys.map((key) => key.replace(/\..*/, '')))]
}

describe('docs/configuration.md', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')

  it('is what the schema says: if not, run npm run docs', async () => {
    expect(page).toBe(await documentConfig(surroundings))
  })

  it('ends with an example that has every setting and is right', async () => {
    const example = page.split('```yaml\n').at(-1)?.split('```')[0] ?? ''
    const { sources, config } = await sourceOf({ user: example })
    expect(topKeys(sources[0]?.keys ?? [])).toEqual(KEYS)
    expect(config.permissions.rules.map((rule) => rule.decision)).toEqual(['deny', 'deny', 'ask', 'allow', 'allow'])
  })

  it('has right examples everywhere', async () => {
    const examples = page.split('```yaml\n').slice(1)
    expect(examples.length).toBe(KEYS.length + 1)
    for (const example of examples) await sourceOf({ user: example.split('```')[0] ?? '' })
  })
})

describe('the file that retinue init writes', () => {
  it('says nothing as it stands', async () => {
    const loaded = await sourceOf({ project: await starterConfig(surroundings) })
    expect(loaded.config).toEqual((await sourceOf({})).config)
    expect(loaded.sources).toEqual([{ file: `${PROJECT}/retinue.yaml`, keys: [] }])
  })

  it('says everything that a project can say without the first # of each line', async () => {
    const project = (await starterConfig(surroundings)).replace(/^#/gm, '')
    const { sources } = await sourceOf({ user: 'trusted_projects: [~/shop]', project })
    expect(sources[0]?.file).toBe(USER_FILE)
    expect(topKeys(sources[1]?.keys ?? [])).toEqual(KEYS.filter((key) => !USER_ONLY.includes(key)))
  })

  it('fits on a screen in width', async () => {
    const widest = Math.max(...(await starterConfig(surroundings)).split('\n').map((line) => line.length))
    expect(widest).toBeLessThanOrEqual(120)
  })
})

it('everything that a profile can have can be set', () => {
  const { profiles } = createConfigSchema(surroundings).shape
  expect(Object.keys(profiles.unwrap().valueType.shape)).toEqual(Object.keys(profileSchema.shape))
})

it('every limit of the tools can be set', () => {
  const { limits } = createConfigSchema(surroundings).shape
  expect(Object.keys(limits.unwrap().shape)).toEqual(Object.keys(DEFAULT_LIMITS))
})
