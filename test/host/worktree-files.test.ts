import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import { git, put, temporaryFolders } from './helpers.js'
import { projectWithWorktree } from './worktree-helpers.js'

const temporaryFolder = temporaryFolders()
const host = createHost()

const FILES = {
  'a.txt': 'word\n',
  '.gitignore': '*.log\n/top-only.txt\n',
  'packages/a/in.txt': 'word\n',
  'packages/a/src/deep.txt': 'word\n',
  'packages/a/.gitignore': 'made\n',
}
const IGNORED = {
  'a.log': 'word\n',
  'top-only.txt': 'word\n',
  'packages/a/b.log': 'word\n',
  'packages/a/made/x.txt': 'word\n',
}

describe.each(['', 'packages/a'])('files of a worktree, with the workspace in %j', (prefix) => {
  it.each(['.', 'packages/a/src'])('are found as in the folder of the person, below %s', async (below) => {
    const project = projectWithWorktree(temporaryFolder(), { files: FILES, prefix })
    put(project.folder, { ...IGNORED })
    put(project.top, { ...IGNORED, 'new.txt': '', [join(prefix, 'new.txt')]: '' })
    put(project.folder, { 'new.txt': '', [join(prefix, 'new.txt')]: '' })
    const under = prefix === '' ? below : below === '.' ? '.' : 'src'
    const look = async (root: string) => {
      const workspace = await host.workspace(root)
      const search = await workspace.search({ pattern: 'word', under, limit: 100 })
      return {
        list: await workspace.list(under),
        files: await workspace.find('**', { under, limit: 100 }),
        named: await workspace.find('*.{txt,log}', { under, limit: 100 }),
        search: search.ok ? search.matches.map(({ path }) => path) : search,
      }
    }
    const here = await look(project.root)
    expect(here).toEqual(await look(join(project.folder, prefix)))
    const top = under === '.' ? [...(prefix === '' ? ['a.txt', 'packages/a/in.txt'] : ['in.txt'])] : []
    expect(here.search).toEqual([...top, prefix === '' ? 'packages/a/src/deep.txt' : 'src/deep.txt'])
  })

  it('are where the person has them, for who names them by absolute paths', async () => {
    const { folder, root } = projectWithWorktree(temporaryFolder(), { files: FILES, prefix })
    const known_as = join(folder, prefix)
    put(root, { 'in.txt': 'mine\n' })
    put(known_as, { 'in.txt': 'theirs\n', 'src/theirs.txt': 'x\n' })
    const workspace = await host.workspace(root, { known_as })
    const text = async (path: string) => {
      const read = await workspace.readText(path)
      return read.ok ? [read.path, read.text] : read.code
    }
    expect(await text(join(known_as, 'in.txt'))).toEqual(['in.txt', 'mine\n'])
    expect(await text(`${known_as}/src/.././in.txt`)).toEqual(['in.txt', 'mine\n'])
    expect(await text(join(root, 'in.txt'))).toEqual(['in.txt', 'mine\n'])
    expect(await text('in.txt')).toEqual(['in.txt', 'mine\n'])
    expect(await workspace.resolve(known_as)).toMatchObject({ path: '.' })
    expect(await text(join(known_as, 'src/theirs.txt'))).toBe('not_found')
    expect(await (await host.workspace(root)).readText(join(known_as, 'in.txt'))).toMatchObject({
      code: 'outside_workspace',
    })

    expect(await workspace.writeText(join(known_as, 'kept/new.txt'), 'new\n')).toMatchObject({ path: 'kept/new.txt' })
    expect(readFileSync(join(root, 'kept/new.txt'), 'utf8')).toBe('new\n')
    expect(existsSync(join(known_as, 'kept'))).toBe(false)
    expect(await workspace.list(known_as)).toEqual(await workspace.list('.'))
    expect(await workspace.find('new.txt', { under: join(known_as, 'kept'), limit: 9 })).toMatchObject({
      paths: ['kept/new.txt'],
    })
  })

  it('are all that is reached, by whatever path', async () => {
    const { folder, root } = projectWithWorktree(temporaryFolder(), { files: FILES, prefix })
    const known_as = join(folder, prefix)
    mkdirSync(join(root, 'src'), { recursive: true })
    symlinkSync(known_as, join(root, 'way-out'))
    symlinkSync(join(folder, '.git'), join(root, 'src/git'))
    const workspace = await host.workspace(root, { known_as })
    const outside = [
      'way-out/a.txt',
      'src/git/config',
      join(known_as, 'way-out/a.txt'),
      join(known_as, 'src/git/config'),
      join(root, '..', '..', 'a2', 'other.txt'),
      '../a2/other.txt',
      '../../../../a.txt',
      join(known_as, '..', 'beside.txt'),
      `${known_as}-beside/a.txt`,
      dirname(known_as),
      '/etc/passwd',
    ]
    for (const path of outside) {
      const read = await workspace.readText(path)
      expect([path, read.ok ? read.path : read.code]).toEqual([
        path,
        expect.stringMatching(/outside_workspace|not_found/),
      ])
    }
    expect(await workspace.readText('/etc/passwd')).toMatchObject({
      message: `"/etc/passwd" is outside the workspace ${known_as}; use a path relative to the workspace`,
    })
    expect(await workspace.readText(join(known_as, '.retinue/worktrees/r1/a2/other.txt'))).toMatchObject({ ok: false })
  })
})

it('are found in a repository that lies in a folder that ignores everything', async () => {
  const folder = temporaryFolder()
  put(folder, { '.gitignore': '*\n', 'repository/a.txt': 'word\n', 'repository/b.log': 'word\n' })
  put(folder, { 'repository/.gitignore': '*.log\n', 'repository/sub/c.txt': 'word\n' })
  git(join(folder, 'repository'), 'init', '-q')
  const workspace = await host.workspace(join(folder, 'repository'))
  expect(await workspace.find('**', { limit: 9 })).toMatchObject({ paths: ['.gitignore', 'a.txt', 'sub/c.txt'] })
  expect(await workspace.find('*', { under: 'sub', limit: 9 })).toMatchObject({ paths: ['sub/c.txt'] })
})
