import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workbench } from './workbench.js'

describe('list_dir', () => {
  it('lists folders first, then files with sizes', async () => {
    const { call, root, plan } = await workbench({ b: 'x'.repeat(1536), 'z/a': '', 'c/a': '', a: 'x', '.env': '' })
    await symlink('a', join(root, 'link'))
    expect(await call('list_dir', {})).toEqual({
      ok: true,
      content: 'c/\nz/\n.env  0 bytes\na  1 byte\nb  1.5 KB\nlink  symlink',
    })
    expect(await plan('list_dir', { path: '' })).toEqual({
      ok: true,
      plan: { summary: 'list .', paths: [{ path: '.', access: 'read' }] },
    })
  })

  it('lists at most 500 and says how many there are', async () => {
    const files = Object.fromEntries(Array.from({ length: 503 }, (_, i) => [`f${1000 + i}`, '']))
    const { call } = await workbench(files)
    const output = await call('list_dir', { path: '.' })
    const lines = 'content' in output ? output.content.split('\n') : []
    expect(lines.slice(499)).toEqual(['f1499  0 bytes', '[500 of 503 entries; find_files finds the others by pattern]'])
  })

  it('says that a folder is empty, or what is wrong with a path', async () => {
    const { call, root } = await workbench({ a: '' })
    await mkdir(join(root, 'empty'))
    expect(await call('list_dir', { path: 'empty' })).toEqual({ ok: true, content: '[empty is empty]' })
    expect(await call('list_dir', { path: 'a' })).toEqual({ ok: false, content: 'a is a file: use read_file' })
    expect(await call('list_dir', { path: 'nope' })).toEqual({ ok: false, content: expect.stringContaining('nope') })
    expect(await call('list_dir', { path: '..' })).toEqual({ refused: expect.any(String) })
  })
})

describe('find_files', () => {
  const files = { 'src/a.ts': '', 'src/b/c.ts': '', 'src/d.js': '', 'out/x.ts': '', '.gitignore': 'out/\n' }

  it('finds by pattern, in the whole workspace or below a folder', async () => {
    const { call, plan } = await workbench(files)
    expect(await call('find_files', { pattern: '**/*.ts' })).toEqual({ ok: true, content: 'src/a.ts\nsrc/b/c.ts' })
    expect(await call('find_files', { pattern: '*.ts', path: 'src/b' })).toEqual({ ok: true, content: 'src/b/c.ts' })
    expect(await call('find_files', { pattern: '*.py' })).toEqual({ ok: true, content: '[no file matches *.py]' })
    expect(await plan('find_files', { pattern: '*.ts', path: 'src/b' })).toEqual({
      ok: true,
      plan: { summary: 'find *.ts in src/b', paths: [{ path: 'src/b', access: 'read' }] },
    })
  })

  it('says when there are more', async () => {
    const { call } = await workbench(files, { limits: { find_results: 1 } })
    expect(await call('find_files', { pattern: '**/*.ts' })).toEqual({
      ok: true,
      content: 'src/a.ts\n[the first 1; narrow the pattern or the path]',
    })
  })

  it('stays in the workspace', async () => {
    const { call } = await workbench({ 'inside/a': '' }, { under: 'ws' })
    expect(await call('find_files', { pattern: '*', path: '..' })).toEqual({ refused: expect.any(String) })
    const output = await call('find_files', { pattern: '../**/*' })
    expect('content' in output && output.content).not.toMatch(/inside\/a/)
  })
})

describe('search_files', () => {
  const files = { 'src/a.ts': 'one\ntwo\nthree\nfour\nfive\ntwo.\n', 'src/b.js': 'TWO\n', 'c.ts': 'two\n' }

  it('answers path:line: text, grouped by file, and says which files it showed', async () => {
    const { call } = await workbench(files)
    expect(await call('search_files', { pattern: 'two$' })).toEqual({
      ok: true,
      content: 'c.ts:1: two\n\nsrc/a.ts:2: two',
      files_read: ['c.ts', 'src/a.ts'],
    })
    expect(await call('search_files', { pattern: 'two', path: 'src', ignore_case: true, glob: '*.js' })).toEqual({
      ok: true,
      content: 'src/b.js:1: TWO',
      files_read: ['src/b.js'],
    })
    expect(await call('search_files', { pattern: 'two', path: 'src/a.ts' })).toMatchObject({
      content: 'src/a.ts:2: two\nsrc/a.ts:6: two.',
    })
    expect(await call('search_files', { pattern: 'two.', literal: true, glob: '' })).toMatchObject({
      content: 'src/a.ts:6: two.',
    })
    expect(await call('search_files', { pattern: 'ten' })).toEqual({ ok: true, content: '[no line matches ten]' })
  })

  it('shows lines around, with a gap where lines are left out', async () => {
    const { call } = await workbench(files)
    expect(await call('search_files', { pattern: 'two', path: 'src/a.ts', context: 1 })).toMatchObject({
      content: [
        'src/a.ts-1- one',
        'src/a.ts:2: two',
        'src/a.ts-3- three',
        '--',
        'src/a.ts-5- five',
        'src/a.ts:6: two.',
      ].join('\n'),
    })
  })

  it('cuts long lines and says when there are more', async () => {
    const { call } = await workbench({ a: `${'x'.repeat(600)}\nx\n` }, { limits: { search_results: 1 } })
    expect(await call('search_files', { pattern: 'x' })).toMatchObject({
      content: `a:1: ${'x'.repeat(498)}…\n\n[the first 1; narrow the pattern, path or glob]`,
    })
  })

  it('says what is wrong with a pattern and with a path', async () => {
    const { call } = await workbench(files)
    expect(await call('search_files', { pattern: '(' })).toEqual({
      ok: false,
      content: expect.stringMatching(/; literal: true searches for plain text$/),
    })
    expect(await call('search_files', { pattern: 'x', path: '/etc' })).toEqual({ refused: expect.any(String) })
  })
})
