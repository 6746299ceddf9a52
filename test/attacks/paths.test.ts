import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampled } from '../support/sampled.js'
import { LINKS } from './links.js'
import { NAMES } from './names.js'
import { OPTIONS } from './options.js'
import { type Attack, attempt, CANARY, LURE, makePlace, makeTemplate, treasure } from './place.js'
import { SPELLINGS } from './spellings.js'

const GROUPS: [name: string, attacks: Attack[]][] = [
  ['spellings of a path', SPELLINGS],
  ['links', LINKS],
  ['names', NAMES],
  ['options', OPTIONS],
]

let template: string
beforeAll(() => {
  template = makeTemplate()
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

const counted = { fenced: 0, with_twin: 0, reached_without: 0 }
afterAll(() => {
  const { fenced, with_twin, reached_without } = counted
  const all = GROUPS.flatMap(([, attacks]) => attacks)
  console.log(
    `path escapes: ${fenced} of ${all.length} fenced (sampled in npm test); without the fence ${reached_without} of the ${with_twin} ` +
      `that can work on this machine do`,
  )
})

describe.each(GROUPS)('%s', (_, attacks) => {
  it.each(sampled(attacks, 3).map((attack) => [attack.name, attack] as const))('%s', async (_, attack) => {
    const unseen = attack.unseen ?? CANARY
    const place = makePlace(template, attack)
    const before = treasure(place, attack.guarded)
    const said = await attempt(place, attack)
    expect(said).not.toContain(unseen)
    expect(treasure(place, attack.guarded)).toBe(before)
    counted.fenced++

    if (!attack.twin) return
    counted.with_twin++
    // What was fenced has changed nothing that matters, so that most twins find what they need.
    const open = attack.fresh || attack.meanwhile ? makePlace(template, attack) : place
    const read = attack.twin(open)
    const reaches = read.includes(unseen) || treasure(open, attack.guarded) !== before
    expect(reaches, `without the fence it does nothing either: ${read}`).toBe(true)
    counted.reached_without++
  })
})

it('lets the same calls through inside the workspace', async ({ expect }) => {
  const calls: Attack['calls'] = () => [
    ['read_file', { path: 'a.txt' }],
    ['edit_file', { path: 'a.txt', old_text: 'inside', new_text: 'within' }],
    ['write_file', { path: 'sub/new/x.txt', content: 'CANARY-7 as a joke' }],
    ['search_files', { pattern: LURE, path: 'sub' }],
    ['list_dir', { path: 'sub/..' }],
    ['find_files', { pattern: '*.txt', path: 'sub' }],
    ['git_diff', { paths: ['a.txt'] }],
    ['git_commit', { message: 'a change', paths: ['a.txt'] }],
    ['git_log', { path: 'a.txt' }],
    ['run_command', { command: 'cat b.txt', cwd: 'sub' }],
  ]
  const attack: Attack = { name: 'none', calls, twin: null }
  const said = await attempt(makePlace(template, attack), attack)
  expect(said).toContain('    1\tinside')
  expect(said).toContain('edited a.txt, 1 replacement')
  expect(said).toContain('sub/new/x.txt:1: CANARY-7 as a joke')
  expect(said).toContain('docs/')
  expect(said).toContain('sub/deep/c.txt')
  expect(said).toContain('-inside\n+within')
  expect(said).toMatch(/committed [0-9a-f]{40}/)
  expect(said).toContain(': a change')
  expect(said).toContain('exit code 0\nbelow')
})

it('lists and searches a folder with very many files', async ({ expect }) => {
  const attack: Attack = {
    name: 'none',
    prepare: ({ root }) => {
      mkdirSync(join(root, 'many'))
      for (let i = 0; i < 5000; i++) writeFileSync(join(root, `many/f${i}`), '')
    },
    calls: () => [
      ['list_dir', { path: 'many' }],
      ['find_files', { pattern: '*', path: 'many' }],
    ],
    twin: null,
  }
  const said = await attempt(makePlace(template, attack), attack)
  expect(said).toContain('[500 of 5,000 entries')
  expect(said).toContain('[the first 200;')
})

it('counts at least 110 ways that work without the fence', () => {
  const all = GROUPS.flatMap(([, attacks]) => attacks)
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  expect(all.filter((attack) => attack.twin).length).toBeGreaterThanOrEqual(110)
})
