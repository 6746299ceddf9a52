import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolNamed, workbench } from './workbench.js'

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join('')

describe('read_file', () => {
  it('shows numbered lines and says which file it read', async () => {
    const { call, plan } = await workbench({ 'src/a.ts': 'one\n\ttwo\n' })
    expect(await call('read_file', { path: './src/../src/a.ts' })).toEqual({
      ok: true,
      content: '    1\tone\n    2\t\ttwo',
      files_read: ['src/a.ts'],
    })
    expect(await plan('read_file', { path: 'src//a.ts' })).toEqual({
      ok: true,
      plan: { summary: 'read src/a.ts', paths: [{ path: 'src/a.ts', access: 'read' }] },
    })
  })

  it('shows a part and says how to go on', async () => {
    const { call } = await workbench({ a: lines(10) })
    expect(await call('read_file', { path: 'a', offset: 3, limit: 2 })).toMatchObject({
      content: '    3\tline 3\n    4\tline 4\n[lines 3 to 4 of 10; go on with offset 5]',
    })
    expect(await call('read_file', { path: 'a', offset: 9 })).toMatchObject({
      content: '    9\tline 9\n   10\tline 10\n[lines 9 to 10 of 10]',
    })
    expect(await call('read_file', { path: 'a', offset: 0, limit: 1 })).toMatchObject({
      content: '    1\tline 1\n[lines 1 to 1 of 10; go on with offset 2]',
    })
    expect(await call('read_file', { path: 'a', offset: 11 })).toEqual({
      ok: false,
      content: 'offset 11 is past the end: a has 10 lines',
    })
  })

  it('stops at the limits, before its output would be cut', async () => {
    const byLines = await workbench({ a: lines(10) }, { limits: { read_lines: 2 } })
    expect(await byLines.call('read_file', { path: 'a', limit: 9 })).toMatchObject({
      content: '    1\tline 1\n    2\tline 2\n[lines 1 to 2 of 10; go on with offset 3]',
    })
    const byCharacters = await workbench({ a: lines(500) }, { limits: { output_chars: 1000 } })
    const output = await byCharacters.call('read_file', { path: 'a' })
    const content = 'content' in output ? output.content : ''
    expect(content.length).toBeGreaterThan(700)
    expect(content.length).toBeLessThanOrEqual(1000)
    expect(content).toMatch(/\[lines 1 to 57 of 500; go on with offset 58\]$/)
  })

  it('always gets on, even where one line is too long', async () => {
    const { call } = await workbench({ a: `${'x'.repeat(900)}\ny\n` }, { limits: { output_chars: 500 } })
    expect(await call('read_file', { path: 'a' })).toMatchObject({
      content: `    1\t${'x'.repeat(900)}\n[lines 1 to 1 of 2; go on with offset 2]`,
    })
  })

  it('cuts long lines, between characters', async () => {
    const { call } = await workbench({ a: `${'x'.repeat(1999)}😀${'y'.repeat(999)}` })
    expect(await call('read_file', { path: 'a' })).toMatchObject({
      content: `    1\t${'x'.repeat(1999)} [… line cut, 3,000 characters]`,
    })
  })

  it('says that a file is empty or has CRLF endings', async () => {
    const { call } = await workbench({ empty: '', windows: 'a\r\nb\r\n' })
    expect(await call('read_file', { path: 'empty' })).toEqual({
      ok: true,
      content: '[empty is empty]',
      files_read: ['empty'],
    })
    expect(await call('read_file', { path: 'windows' })).toMatchObject({
      content: '    1\ta\n    2\tb\n[lines end with CRLF]',
    })
  })

  it('says what to do instead when it cannot read', async () => {
    const files = { 'src/index.ts': 'a', 'src/index.js': 'a', 'src/other': 'a', bin: new Uint8Array([0, 1, 2, 255]) }
    const { call } = await workbench({ ...files, big: 'x'.repeat(2000) }, { limits: { read_bytes: 1024 } })
    const failure = async (path: string) => call('read_file', { path })
    expect(await failure('src')).toEqual({ ok: false, content: 'src is a folder: use list_dir' })
    expect(await failure('bin')).toEqual({ ok: false, content: 'bin is not a text file' })
    expect(await failure('big')).toEqual({
      ok: false,
      content: 'big is larger than 1 KB: use search_files, or run_command with head or sed',
    })
    expect(await failure('src/Index.tsx')).toEqual({
      ok: false,
      content: 'src/Index.tsx does not exist; similar: src/index.ts, src/index.js',
    })
    expect(await failure('zzz')).toEqual({ ok: false, content: 'zzz does not exist: use find_files' })
    expect(await failure('lib/a.ts')).toEqual({
      ok: false,
      content: 'lib/a.ts does not exist, and there is no folder lib: use find_files',
    })
  })

  it('is refused outside the workspace, before anybody is asked', async () => {
    const { call } = await workbench()
    for (const path of ['../x', '/etc/passwd', 'a/../../x']) {
      expect(await call('read_file', { path })).toEqual({ refused: expect.stringContaining(path) })
    }
  })

  it('reads what was planned, not what a link became afterwards', async () => {
    const { context } = await workbench({ 'a/x': 'planned', 'b/x': 'other' })
    await symlink('a', join(context.workspace.root, 'link'))
    const tool = toolNamed('read_file')
    const planned = await tool.plan({ path: 'link/x' }, context)
    expect(planned).toMatchObject({ ok: true, plan: { paths: [{ path: 'a/x', access: 'read' }] } })
    await rm(join(context.workspace.root, 'link'))
    await symlink('b', join(context.workspace.root, 'link'))
    if (planned.ok) {
      expect(await tool.execute({ path: 'link/x' }, context, planned.plan)).toMatchObject({ files_read: ['a/x'] })
    }
  })
})
