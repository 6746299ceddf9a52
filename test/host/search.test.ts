import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createHost, type SearchQuery, type Workspace } from '../../src/host/index.js'
import { Records } from '../../src/host/records.js'
import { runRipgrep } from '../../src/host/ripgrep.js'
import { git, put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
let base: string
let root: string
let workspace: Workspace

beforeEach(async () => {
  base = temporaryFolder()
  root = join(base, 'proj')
  mkdirSync(root)
  workspace = await createHost().workspace(root)
})

async function find(pattern: string, options: { under?: string; limit?: number } = {}) {
  const found = await workspace.find(pattern, { limit: 100, ...options })
  return found.ok ? found.paths : found.code
}

async function search(query: Omit<SearchQuery, 'limit'> & { limit?: number }) {
  const found = await workspace.search({ limit: 100, ...query })
  return found.ok ? found.matches.map((m) => `${m.path}${m.is_context ? '-' : ':'}${m.line} ${m.text}`) : found.code
}

describe('find', () => {
  beforeEach(() =>
    put(root, {
      '.gitignore': 'node_modules\n*.log\n',
      '.hidden/h.ts': '',
      'a.ts': '',
      'b.js': '',
      'src/a.ts': '',
      'src/deep/c.test.ts': '',
      'src/deep/d.tsx': '',
      'src/debug.log': '',
      'node_modules/x/index.ts': '',
      '.git/config.ts': '',
      '.retinue/x.ts': '',
      'sub/.retinue/x.ts': '',
      '.retinue-tmp-1.ts': '',
    }),
  )

  it('matches names at any depth, and paths where the pattern has a folder in it', async () => {
    expect(await find('*.ts')).toEqual(['.hidden/h.ts', 'a.ts', 'src/a.ts', 'src/deep/c.test.ts'])
    expect(await find('src/*.ts')).toEqual(['src/a.ts'])
    expect(await find('src/**/*.{ts,tsx}')).toEqual(['src/a.ts', 'src/deep/c.test.ts', 'src/deep/d.tsx'])
    expect(await find('./*.ts')).toEqual(['a.ts'])
    expect(await find('{src,none}/**')).toEqual(['src/a.ts', 'src/deep/c.test.ts', 'src/deep/d.tsx'])
    expect(await find('src/{a.ts,deep/d.tsx}')).toEqual(['src/a.ts', 'src/deep/d.tsx'])
    expect(await find('[ab].*')).toEqual(['a.ts', 'b.js', 'src/a.ts'])
    expect(await find('nothing')).toEqual([])
  })

  it('leaves out what is ignored, also where the pattern asks for it, and what belongs to git and Retinue', async () => {
    expect(await find('*.log')).toEqual([])
    expect(await find('**/*.log')).toEqual([])
    expect(await find('**')).toEqual([
      '.gitignore',
      '.hidden/h.ts',
      'a.ts',
      'b.js',
      'src/a.ts',
      'src/deep/c.test.ts',
      'src/deep/d.tsx',
    ])
    expect(await find('*', { under: '.git' })).toBe('outside_workspace')
    expect(await find('*', { under: 'sub/.retinue' })).toBe('outside_workspace')
  })

  it('takes the pattern relative to the folder it looks in, and answers relative to the root', async () => {
    expect(await find('deep/*.tsx', { under: 'src' })).toEqual(['src/deep/d.tsx'])
    expect(await find('*.log', { under: 'src' })).toEqual([])
    expect(await find('*', { under: 'none' })).toBe('not_found')
    expect(await find('*', { under: 'a.ts' })).toBe('not_a_directory')
  })

  it('stops at the limit and says that there is more', async () => {
    expect(await workspace.find('*.ts', { limit: 2 })).toEqual({
      ok: true,
      paths: ['.hidden/h.ts', 'a.ts'],
      more: true,
    })
    expect(await workspace.find('*.ts', { limit: 4 })).toMatchObject({ more: false })
  })

  it('says so when it is stopped', async () => {
    const signal = AbortSignal.abort()
    expect(await workspace.find('*', { limit: 2, signal })).toMatchObject({ ok: false, code: 'io' })
  })

  it('does not follow links', async () => {
    put(base, { 'outside/secret.ts': 'secret' })
    symlinkSync('../outside', join(root, 'link'))
    symlinkSync('../outside/secret.ts', join(root, 'link.ts'))
    expect(await find('secret.ts')).toEqual([])
    expect(await find('link.ts')).toEqual([])
    expect(await search({ pattern: 'secret' })).toEqual([])
  })
})

it('honours ignore files where there is no git', async () => {
  put(root, { '.gitignore': 'x.txt\n', 'x.txt': 'x\n', 'sub/x.txt': 'x\n', 'sub/y.txt': 'x\n' })
  expect(await find('*.txt')).toEqual(['sub/y.txt'])
  expect(await find('*.txt', { under: 'sub' })).toEqual(['sub/y.txt'])
})

it('ends ripgrep when nothing more is wanted', async () => {
  put(root, { 'a.txt': '', 'b.txt': '' })
  const files = { args: ['--files', '--null'], cwd: root, separator: '\0', signal: undefined } as const
  expect(await runRipgrep({ ...files, args: [...files.args], onRecord: () => false })).toMatchObject({ stopped: true })
  expect(await runRipgrep({ ...files, args: [...files.args], onRecord: () => true })).toMatchObject({ stopped: false })
  const controller = new AbortController()
  const abort = () => {
    controller.abort()
    return true
  }
  const aborted = { ...files, args: [...files.args], signal: controller.signal, onRecord: abort }
  expect(await runRipgrep(aborted)).toMatchObject({ stopped: true })
})

it('holds no record longer than a megabyte or so', () => {
  const seen: [number, number | null][] = []
  const records = new Records(10, ({ bytes, line }) => {
    seen.push([bytes.length, line])
    return true
  })
  records.push(Buffer.from('{"type":"match"'))
  for (let i = 0; i < 100; i++) records.push(Buffer.alloc(100_000, 'x'))
  for (const piece of ['"},"line_num', 'ber":12', '345,"abs', '\nshort\n']) records.push(Buffer.from(piece))
  expect(seen).toEqual([
    [expect.any(Number), 12345],
    [5, null],
  ])
  expect(seen[0]?.[0]).toBeLessThan(1_200_000)
})

it('honours the ignore files above the workspace inside a git repository, and only there', async () => {
  put(base, { '.gitignore': '*\n', 'proj/a.txt': 'x\n' })
  expect(await find('*')).toEqual(['a.txt'])
  git(base, 'init', '-q')
  workspace = await createHost().workspace(root)
  expect(await find('*')).toEqual([])
})

describe('search', () => {
  beforeEach(() =>
    put(root, {
      '.gitignore': 'ignored.txt\n',
      'a.txt': 'one\nTwo apples\nthree\nfour\n',
      'sub/b.md': 'two\r\n-e two\n',
      'ignored.txt': 'two\n',
      '.git/config': 'two\n',
      '.retinue/log': 'two\n',
    }),
  )

  it('tells path, line and text of each match, in order of paths', async () => {
    expect(await search({ pattern: 'tw[o]' })).toEqual(['sub/b.md:1 two', 'sub/b.md:2 -e two'])
    expect(await search({ pattern: 'two', ignore_case: true })).toEqual([
      'a.txt:2 Two apples',
      'sub/b.md:1 two',
      'sub/b.md:2 -e two',
    ])
  })

  it('takes a pattern for a pattern, whatever it begins with', async () => {
    expect(await search({ pattern: '-e two' })).toEqual(['sub/b.md:2 -e two'])
    expect(await search({ pattern: '--files' })).toEqual([])
    expect(await search({ pattern: 't.o', literal: true })).toEqual([])
  })

  it('gives lines around a match', async () => {
    expect(await search({ pattern: 'Two', context: 1 })).toEqual(['a.txt-1 one', 'a.txt:2 Two apples', 'a.txt-3 three'])
    expect(await search({ pattern: 'one|four', context: 1, limit: 1 })).toEqual(['a.txt:1 one', 'a.txt-2 Two apples'])
  })

  it('looks in a folder, a file or files of a kind', async () => {
    expect(await search({ pattern: '.', under: 'sub' })).toEqual(['sub/b.md:1 two', 'sub/b.md:2 -e two'])
    expect(await search({ pattern: '^t', under: 'a.txt' })).toEqual(['a.txt:3 three'])
    expect(await search({ pattern: '^t', glob: '*.txt' })).toEqual(['a.txt:3 three'])
    expect(await search({ pattern: '^t', glob: '!*.txt' })).toEqual(['sub/b.md:1 two'])
    expect(await search({ pattern: 'two', glob: 'ignored*' })).toEqual([])
    expect(await search({ pattern: 'two', under: '.git' })).toBe('outside_workspace')
    expect(await search({ pattern: 'two', under: 'none' })).toBe('not_found')
  })

  it('answers a pattern that is none with what is wrong with it', async () => {
    const found = await workspace.search({ pattern: 'foo(', limit: 1 })
    expect(found).toMatchObject({ ok: false, code: 'bad_pattern' })
    expect(found.ok ? '' : found.message).toContain('unclosed group')
    expect(await search({ pattern: 'foo(', under: 'a.txt' })).toBe('bad_pattern')
    expect(await search({ pattern: 'a\0b' })).toBe('bad_pattern')
    expect(await search({ pattern: 'a\nb' })).toBe('bad_pattern')
  })

  it('stops at the limit in the midst of a very large file', async () => {
    put(root, { 'big.txt': 'match\n'.repeat(500_000) })
    const found = await workspace.search({ pattern: 'match', limit: 3 })
    expect(found).toMatchObject({ ok: true, more: true })
    expect(found.ok ? found.matches : []).toHaveLength(3)
  })

  it('says so when it is stopped', async () => {
    const signal = AbortSignal.abort()
    expect(await workspace.search({ pattern: 'two', limit: 3, signal })).toMatchObject({ ok: false, code: 'io' })
  })

  it('cuts a long line around its match', async () => {
    put(root, { 'min.js': `${'é'.repeat(3000)}needle${'y'.repeat(3000)}\n${'needle'.padEnd(600, 'z')}\n` })
    const [far, near] = (await search({ pattern: 'needle' })) as string[]
    expect(far).toMatch(/^min\.js:1 …é{100}needley+…$/)
    expect(near).toMatch(/^min\.js:2 needlez+…$/)
    for (const line of [far, near]) expect((line ?? '').length).toBeLessThanOrEqual(510)
  })

  it('names a match in a line of many megabytes without holding it', async () => {
    put(root, { 'min.js': `one\n${'x needle '.repeat(200_000)}\nneedle\n` })
    expect(await search({ pattern: 'needle' })).toEqual(['min.js:2 [a very long line]', 'min.js:3 needle'])
  })

  it('shows lines that are not UTF-8 as well as it can', async () => {
    put(root, { latin: Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]) })
    expect(await search({ pattern: 'caf' })).toEqual(['latin:1 caf\uFFFD'])
  })
})
