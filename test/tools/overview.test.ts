import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workbench } from './workbench.js'

const PROJECT = {
  'package.json': JSON.stringify({
    name: 'sums',
    version: '1.2.0',
    bin: { sums: 'bin/sums.js' },
    exports: { '.': './src/index.ts', './extra': './src/extra.ts' },
    scripts: { build: 'tsc', test: 'vitest run' },
  }),
  'README.md': '# Sums\n',
  Makefile: 'VERSION := 1\nall: build\nbuild:\n\techo\n.PHONY: all\n',
  'services/api/pyproject.toml':
    '[project]\nname = "api"\n\n[project.scripts]\nserve = "api:main"\n\n[tool.x]\nname = "other"\n',
  'services/api/__main__.py': 'print(1)\nprint(2)\n',
  '.github/workflows/ci.yml': 'on: push\n',
  'docs/one.md': 'one\ntwo',
  'src/index.ts': 'export const a = 1\nexport const b = 2\n',
  'src/deep/er/still/x.ts': 'x\n',
  'bin/sums.js': '#!/usr/bin/env node\n',
  '.gitignore': 'dist\n',
  'dist/bundle.js': 'HIDDEN\n',
}

async function shown(files: Record<string, string>, args: object = {}, more = {}) {
  const bench = await workbench(files, more)
  const output = await bench.call('overview', args)
  if (!('content' in output)) throw new Error(output.refused)
  return { ...bench, ...output }
}

describe('overview', () => {
  it('is the shape of a repository in one page', async () => {
    const { ok, content, files_read } = await shown(PROJECT)
    expect(ok).toBe(true)
    expect(content.split('\n')).toEqual([
      'Workspace: 11 files in 7 folders, ignored ones left out',
      'Languages: Markdown 2 files, 3 lines; TypeScript 2 files, 3 lines; Python 1 file, 2 lines; JavaScript 1 file, 1 line',
      'Manifests:',
      '- Makefile: targets: all, build',
      '- package.json: sums 1.2.0; bin: sums; exports: ., ./extra; scripts: build, test',
      '- .github/workflows/ci.yml',
      '- services/api/pyproject.toml: api; scripts: serve',
      'Entry points: src/index.ts, services/api/__main__.py',
      'Tests (run_tests): npm test, as package.json says',
      'Docs: README.md, docs/ (1 file)',
      'Folders:',
      '.github/workflows/ 1 file',
      'bin/ 1 file',
      'docs/ 1 file',
      'services/api/ 2 files',
      'src/ 2 files',
      '  deep/er/ 1 file',
      '    still/ 1 file',
      '.gitignore Makefile README.md package.json',
      expect.stringMatching(/^Largest: package\.json \(\d+ bytes\), /),
    ])
    expect(files_read).toEqual(['Makefile', 'package.json', 'services/api/pyproject.toml'])
  })

  it('says which files change, as git knows', async () => {
    const { git, put, call } = await workbench({ 'a.ts': '1', 'b.ts': '1', 'sub/c.ts': '1', gone: '' })
    const commit = async (path: string, text: string) => {
      await put(path, text)
      await git('add', '-A')
      await git('commit', '-q', '-m', path)
    }
    await git('init', '-q')
    await commit('a.ts', '2')
    for (const text of ['2', '3', '4']) await commit('sub/c.ts', text)
    await commit('b.ts', '2')
    await git('rm', '-q', 'gone')
    await git('commit', '-q', '-m', 'gone')
    const { content } = (await call('overview', {})) as { content: string }
    expect(content.split('\n').slice(-2)).toEqual([
      'Changed last: b.ts, sub/c.ts, a.ts',
      'Changed most in the last 200 commits: sub/c.ts (4), b.ts (2)',
    ])
  })

  it('of a folder is about that folder', async () => {
    const { content } = await shown(PROJECT, { path: './services' })
    expect(content.split('\n').slice(0, 5)).toEqual([
      'services: 2 files in 1 folder, ignored ones left out',
      'Languages: Python 1 file, 2 lines',
      'Manifests:',
      '- api/pyproject.toml: api; scripts: serve',
      'Entry points: api/__main__.py',
    ])
  })

  it('says nothing of files that may not be read', async () => {
    const mayRead = (path: string) => !path.startsWith('services') && path !== 'package.json'
    const { content } = await shown(PROJECT, {}, { context: { mayRead } })
    expect(content).not.toMatch(/services|api|Python|sums 1|npm test|package\.json/)
    expect(content).toContain('Workspace: 8 files')
  })

  it('does not go out of the workspace', async () => {
    const bench = await workbench({ 'outside/secret.ts': 'x\n', 'ws/a.ts': 'x\n' }, { under: 'ws' })
    symlinkSync('/etc', join(bench.root, 'link'))
    expect(await bench.call('overview', { path: '../outside' })).toEqual({
      refused: expect.stringContaining('outside the workspace'),
    })
    expect(await bench.call('overview', { path: 'link' })).toEqual({
      refused: expect.stringContaining('outside the workspace'),
    })
    expect(JSON.stringify(await bench.call('overview', {}))).not.toContain('passwd')
  })

  it('stands what is not as it should be', async () => {
    const files = { 'package.json': 'no', 'pyproject.toml': '[project', 'Cargo.toml': '\0', 'a.ts': '\0'.repeat(10) }
    const { ok, content } = await shown(files)
    expect(ok).toBe(true)
    expect(content).toContain('- package.json\n')
    expect(await shown({})).toMatchObject({ ok: true, content: '[there are no files in .]' })
    const { call } = await workbench({ a: '' })
    expect(await call('overview', { path: 'a' })).toMatchObject({ ok: false })
  })

  it('is one page and the same each time, also for ten thousand files, and takes about a second', async () => {
    const bench = await workbench()
    for (let folder = 0; folder < 500; folder++) {
      const path = join(bench.root, `part${folder % 25}/sub${folder}/a`)
      mkdirSync(path, { recursive: true })
      for (let file = 0; file < 20; file++) writeFileSync(join(path, `f${file}.ts`), 'line\n'.repeat(folder % 50))
    }
    const first = (await bench.call('overview', {})) as { content: string }
    const started = performance.now()
    expect(await bench.call('overview', {})).toEqual(first)
    const ms = performance.now() - started
    console.log(`overview of 10,000 files: ${Math.round(ms)} ms, ${first.content.length} characters`)
    expect(first.content.length).toBeLessThan(6200)
    expect(first.content).toContain('Workspace: 10,000 files in 500 folders')
    // The goal is one second; a busy machine may take longer.
    expect(ms).toBeLessThan(10_000)
  }, 60_000)
})
