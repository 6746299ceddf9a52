import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { createHost, type Fence } from '../../src/host/index.js'
import { OwnPrograms } from '../../src/host/programs.js'
import { ownCode } from '../../src/host/sandbox/own-code.js'
import { describeSandboxed } from '../support/sandbox.js'
import { hostCode, runWithHost } from './another.js'
import { git, initRepository, put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
const PATH = process.env.PATH
afterEach(() => {
  process.env.PATH = PATH
})

const fenceOf = (root: string): Fence => ({
  root,
  write_paths: [['**']],
  read_paths: [['**']],
  hidden: [],
  network: false,
})

/** A repository whose folders come first in the PATH, with programs in them that leave a trace. */
function project(names: string[]): { root: string; traces: string } {
  const base = temporaryFolder()
  const root = join(base, 'project')
  const traces = join(base, 'traces')
  put(base, { 'project/a.txt': 'one\n', 'traces/.keep': '' })
  initRepository(root)
  const folders = ['bin', 'node_modules/.bin', 'linked']
  for (const path of folders.flatMap((folder) => names.map((name) => join(root, folder, name)))) {
    put('/', { [path]: `#!/bin/sh\ntouch "${traces}/$(basename $0)"\n` })
    chmodSync(path, 0o755)
  }
  symlinkSync(join(root, 'linked'), join(base, 'link'))
  process.env.PATH = [join(base, 'link'), ...folders.map((folder) => join(root, folder)), PATH].join(':')
  return { root, traces }
}

/** The names of the programs that were run, which are forgotten then. */
function run(traces: string): string[] {
  const names = readdirSync(traces).filter((name) => name !== '.keep')
  for (const name of names) rmSync(join(traces, name))
  return names
}

describe('programs that Retinue runs for itself', () => {
  it('are not taken from a folder in one that is avoided, whichever of the two came first', () => {
    const { root } = project(['tool'])
    const inner = join(root, 'bin')
    for (const order of [
      [inner, root],
      [root, inner],
    ]) {
      const programs = new OwnPrograms()
      expect(programs.find('tool')).not.toBe(null)
      for (const folder of order) programs.avoid(folder)
      expect(programs.find('tool')).toBe(null)
    }
  })

  it('are not those that somebody has put into the project', async () => {
    const { root, traces } = project(['git', 'mkfifo', 'bwrap'])
    for (const name of ['git', 'mkfifo', 'bwrap']) spawnSync(name, [])
    expect(run(traces).sort()).toEqual(['bwrap', 'git', 'mkfifo'])
    const host = createHost()
    const opened = await host.git.open(root)
    if (!opened.ok) throw new Error(opened.message)
    put(root, { 'a.txt': 'two\n' })
    expect(await opened.repository.commit({ message: 'second', paths: ['a.txt'] })).toMatchObject({ ok: true })
    await host.processes.run({
      command: 'true',
      cwd: root,
      fence: fenceOf(root),
      timeout_ms: 9000,
      max_output_bytes: 9,
    })
    await host.facts()
    expect(run(traces)).toEqual([])
    // What a command runs is its own affair.
    await host.processes.run({ command: 'git', cwd: root, timeout_ms: 9000, max_output_bytes: 9 })
    expect(run(traces)).toEqual(['git'])
  })

  it('do not start such programs either', async () => {
    const { root, traces } = project(['planted-filter'])
    put(root, { '.gitattributes': '*.txt filter=planted\n', 'a.txt': 'two\n' })
    git(root, 'config', 'filter.planted.clean', 'planted-filter')
    git(root, 'add', 'a.txt')
    expect(run(traces)).toEqual(['planted-filter'])
    git(root, 'reset', '-q')
    run(traces)
    const opened = await createHost().git.open(root)
    if (!opened.ok) throw new Error(opened.message)
    expect(await opened.repository.commit({ message: 'second', paths: ['a.txt'] })).toMatchObject({ ok: true })
    expect(run(traces)).toEqual([])
  })

  it('are not taken from the folder that Retinue is started in before anybody has named one', async () => {
    const { root, traces } = project(['git'])
    rmSync(join(root, 'node_modules'), { recursive: true })
    const folder = temporaryFolder()
    const script = `process.chdir(${JSON.stringify(root)}); console.log((await createHost().facts()).git_version)`
    const { stdout } = runWithHost(folder, await hostCode(), script)
    expect(stdout).toMatch(/^\d+\.\d+/)
    expect(run(traces)).toEqual([])
  })
})

describeSandboxed('Retinue as a package of the project', () => {
  it('cannot be changed by a command, and neither can what it needs', async () => {
    const root = temporaryFolder()
    put(root, {
      'node_modules/retinue/package.json': '{ "name": "retinue", "dependencies": { "needed": "1" } }',
      'node_modules/needed/package.json': '{ "optionalDependencies": { "@some/rg": "1", "absent": "1" } }',
      'node_modules/@some/rg/bin/rg': '',
      'node_modules/other/index.js': '',
      'node_modules/retinue/dist/index.js': '',
    })
    const files = [
      'node_modules/retinue/dist/with-host.mjs',
      'node_modules/retinue/new.js',
      'node_modules/needed/index.js',
      'node_modules/@some/rg/bin/rg',
      'node_modules/other/index.js',
      'node_modules/new.js',
    ]
    const script = `
      const host = createHost()
      const fence = ${JSON.stringify(fenceOf(root))}
      const command = 'for f in ${files.join(' ')}; do (echo >> $f) 2>/dev/null && echo $f; done; mv node_modules moved && echo moved'
      for (const f of [{ fence }, {}]) {
        const { stdout } = await host.processes.run({ command, cwd: fence.root, ...f, timeout_ms: 20000, max_output_bytes: 9000 })
        console.log(JSON.stringify(stdout.trim().split('\\n')))
      }`
    const { stdout, stderr } = runWithHost(join(root, 'node_modules/retinue/dist'), await hostCode(), script)
    expect({
      answers: stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      stderr,
    }).toEqual({
      answers: [files.slice(4), [...files, 'moved']],
      stderr: '',
    })
  })

  it('is what was built and what it needs where the project is Retinue itself', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
    const paths = ownCode()(root)
    const needed = ['dist', 'bin', 'node_modules/zod', 'node_modules/@vscode/ripgrep'].map((path) => join(root, path))
    expect(needed.filter((path) => existsSync(path) && !paths.includes(path))).toEqual([])
    expect(paths.filter((path) => path === root || path.startsWith(join(root, 'src')))).toEqual([])
    expect(paths.length).toBeLessThan(250)
    const node = realpathSync(process.execPath)
    expect(ownCode()(dirname(node))).toEqual([node])
  })
})
