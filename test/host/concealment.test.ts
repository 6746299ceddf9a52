import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type CommandResult, type CommandSpec, createHost, type Fence } from '../../src/host/index.js'
import { cannotConceal } from '../../src/host/sandbox/concealment.js'
import { misplaced } from '../../src/host/sandbox/mounts.js'
import { bwrapArguments, planMounts, type View } from '../../src/host/sandbox/plan.js'
import { Trees } from '../../src/host/sandbox/survey.js'
import { describeSandboxed } from '../support/sandbox.js'
import { put, temporaryFolders } from './helpers.js'
import { link, type Project, projectWithWorktree } from './worktree-helpers.js'

const temporaryFolder = temporaryFolders()
const host = createHost()
const FILES = { 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.gitignore': 'node_modules\nsecrets\n.env\n' }

function openFence(root: string, options: Partial<Fence> = {}): Fence {
  return { root, write_paths: [['**']], read_paths: [['**']], hidden: ['.retinue'], network: false, ...options }
}

function run(
  { folder, top, root }: Project,
  command: string,
  fence: Partial<Fence> = {},
  spec: Partial<CommandSpec> = {},
): Promise<CommandResult> {
  return host.processes.run({
    command,
    cwd: root,
    fence: openFence(root, { concealed: [folder], seen: [top], ...fence }),
    timeout_ms: 60_000,
    max_output_bytes: 100_000,
    ...spec,
  })
}

const OPEN: Partial<Fence> = { concealed: [], seen: [] }

/** What a command says that must have run. */
async function says(...args: Parameters<typeof run>): Promise<string> {
  const { status, message, stdout } = await run(...args)
  expect({ status, message }).toEqual({ status: 'exited', message: null })
  return stdout
}

/** In a toolchain of the person, which commands can read: so that it is the concealment that is seen to work. */
function inToolchain(): { home: string; folder: string; env: Record<string, string> } {
  const home = temporaryFolder()
  return { home, folder: join(home, 'go/src/project'), env: { HOME: home } }
}

describeSandboxed('a command in a worktree', () => {
  it('sees nothing of the folder around it, and without concealment all of it', async () => {
    const { folder, home, env } = inToolchain()
    const project = projectWithWorktree(folder, { files: FILES })
    put(home, { 'go/pkg/mod/x.go': 'package x\n' })
    const reach = [
      'a.txt',
      '.git/config',
      '.retinue/git/config',
      '.retinue/git/worktrees/a1/HEAD',
      '.retinue/retinue.db',
      '.retinue/worktrees/r1/a2/other.txt',
    ]
    const command = `for f in ${reach.join(' ')}; do cat ${folder}/$f >/dev/null 2>&1 && echo $f; done; true`
    expect((await says(project, command, OPEN, { env })).split('\n').filter(Boolean)).toEqual(reach)
    expect(await says(project, command, {}, { env })).toBe('')
    const around = `find ${folder} -not -path '*/a1/*' | sort; touch ${folder}/new; cat ~/go/pkg/mod/x.go a.txt`
    expect(await run(project, around, {}, { env })).toMatchObject({
      stdout: `${folder}\n${folder}/.retinue\n${folder}/.retinue/worktrees\n${folder}/.retinue/worktrees/r1\n${project.top}\npackage x\none\n`,
      output: expect.stringContaining('Read-only file system'),
    })
  })

  it('works in its own tree, which leaves the git file alone and git without a repository', async () => {
    const { folder, env } = inToolchain()
    const project = projectWithWorktree(folder, { files: FILES })
    const before = readFileSync(join(project.top, '.git'), 'utf8')
    const result = await run(
      project,
      'cat a.txt; echo new > src/new.txt; git status 2>&1 | head -1; rm -f .git; echo x > .git; mv .git g; ls -A',
      {},
      { env },
    )
    expect(result.stdout).toMatch(/^one\nfatal: not a git repository[^\n]*\n/)
    expect(result.output).toMatch(/rm: [^\n]*busy/)
    expect(readFileSync(join(project.top, '.git'), 'utf8')).toBe(before)
    expect(readFileSync(join(project.top, 'src/new.txt'), 'utf8')).toBe('new\n')
    expect(readdirSync(project.top).sort()).toEqual(['.git', '.gitignore', 'a.txt', 'src'])
    expect(await says(project, 'git status --porcelain -uall', OPEN, { env })).toBe('?? src/new.txt\n')
  })

  it('keeps to the paths of its contract there', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'project'), { files: FILES })
    const narrow = { read_paths: [['src/**']], write_paths: [['src/**']] }
    const command = 'find . -type f; echo x > src/c.txt; echo x > d.txt'
    expect(await says(project, command, narrow)).toBe('./src/b.txt\n')
    expect([existsSync(join(project.root, 'src/c.txt')), existsSync(join(project.root, 'd.txt'))]).toEqual([
      true,
      false,
    ])
  })

  it('reads what links lead to, and changes nothing there', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'project'), { files: FILES })
    const modules = link(project, 'node_modules', { 'node_modules/tool/index.js': 'code\n', 'secret.txt': 's\n' })
    const command = `cat node_modules/tool/index.js; echo x >> node_modules/tool/index.js; ls ${project.folder}`
    expect(await says(project, command)).toBe('')
    expect(await says(project, command, { seen: [project.top, modules] })).toBe('code\nnode_modules\n')
    expect(readFileSync(join(modules, 'tool/index.js'), 'utf8')).toBe('code\n')
  })

  it('does not see in linked folders what its contract hides', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'project'), { files: FILES })
    const seen = [
      project.top,
      link(project, 'node_modules', { 'node_modules/a/.env': 'K=1\n', 'node_modules/a/index.js': 'code\n' }),
      link(project, 'secrets', { 'secrets/key': 'K=2\n' }),
      link(project, '.env', { '.env': 'K=3\n' }),
    ]
    const command = 'cat node_modules/a/index.js node_modules/a/.env secrets/key .env 2>/dev/null'
    expect(await says(project, command, { seen })).toBe('code\nK=1\nK=2\nK=3\n')
    const hidden = ['.retinue', '**/.env', 'secrets/**']
    expect(await run(project, command, { seen, hidden })).toMatchObject({ stdout: 'code\n', message: null })
    const again = `${command}; cat ${project.folder}/secrets/key ${project.folder}/.env`
    expect(await says(project, again, { seen, hidden })).toBe('code\n')
    const paths = { read_paths: [['src/**', 'secrets/**']] }
    expect(await says(project, `ls -A ${project.folder}`, { seen, ...paths })).toBe('.retinue\nsecrets\n')
  })

  it('sees the rest of its worktree, read-only, where its root is below the top', async () => {
    const { folder, env } = inToolchain()
    const files = { ...FILES, 'packages/a/in.txt': 'in\n', 'packages/b/beside.txt': 'beside\n' }
    const project = projectWithWorktree(folder, { files, prefix: 'packages/a' })
    const command = `cat in.txt ../b/beside.txt; echo x > ../b/beside.txt; echo x > ../../.git; rm ../../.git; echo y > in.txt
      cat ${folder}/packages/b/beside.txt ${folder}/.git/config ${folder}/packages/a/in.txt`
    expect(await says(project, command, {}, { env })).toBe('in\nbeside\n')
    expect(await says(project, command, { concealed: [] }, { env })).toMatch(/^y\nbeside\nbeside\n\[core\]/)
    expect(readFileSync(join(project.top, 'packages/b/beside.txt'), 'utf8')).toBe('beside\n')
    expect(readFileSync(join(project.root, 'in.txt'), 'utf8')).toBe('y\n')
    expect(readFileSync(join(project.top, '.git'), 'utf8')).toMatch(/^gitdir: /)
  })

  it('cannot speak to a socket in what it sees', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'p'), { files: FILES })
    const seen = [project.top, link(project, 'node_modules', { 'node_modules/x': '' })]
    const socket = join(project.folder, 'node_modules/s')
    const server = createServer((client) => client.end('hello\n')).listen(socket)
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const speak = `node -e "require('net').connect('node_modules/s').on('data', d => console.log(String(d))).on('error', e => console.log(e.code))"`
      expect(await says(project, speak, { seen })).toMatch(/^EACCES|^ECONNREFUSED/)
    } finally {
      server.close()
    }
  })

  it('has a home to fill and its tools where the folder is the home itself, or around it', async () => {
    for (const at of ['.', 'people/ada']) {
      const folder = temporaryFolder()
      const home = join(folder, at)
      put(home, { '.cargo/config.toml': 'tool\n', 'letter.txt': 'private\n', 'apps/tool/bin/mine': '' })
      const project = projectWithWorktree(folder, { files: { 'a.txt': 'one\n', '.gitignore': '*\n!a.txt\n' } })
      const command = `cat a.txt ~/.cargo/config.toml; touch ~/x && ls -A ~; cat ${folder}/a.txt ${home}/letter.txt`
      const result = await run(project, command, {}, { env: { HOME: home } })
      expect(result.stdout.replace('.retinue\n', '')).toBe('one\ntool\n.cargo\nx\n')
      expect(existsSync(join(home, 'x'))).toBe(false)
    }
  })

  it('sees no folder of the PATH in what is concealed, though it may look like an installation', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'work', 'project'), {
      files: { 'bin/tool': '', 'lib/x': '', 'letter.txt': 'private\n' },
    })
    const env = { PATH: `${project.folder}/bin:${process.env.PATH}` }
    expect(await says(project, `ls -A ${project.folder}`, OPEN, { env })).toContain('letter.txt')
    expect(await says(project, `ls -A ${project.folder}`, {}, { env })).toBe('.retinue\n')
  })

  it('is not started where that cannot be', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'project'), { files: FILES })
    const { folder, top } = project
    const refused = async (fence: Partial<Fence>) => (await run(project, 'echo started', fence)).message
    for (const place of ['/', '/usr', '/usr/local', '/etc', '/nix']) {
      expect(await refused({ concealed: [place] })).toContain(`${place} cannot be concealed, because commands need`)
    }
    expect(await refused({ concealed: [top] })).toContain('cannot be concealed from a command that works in')
    expect(await refused({ seen: [top, folder] })).toContain(`${folder} cannot be shown`)
    for (const path of [
      '.git',
      '.git/hooks',
      '.retinue',
      '.retinue/git',
      '.retinue/worktrees/r1',
      '.retinue/worktrees/r1/a2',
    ]) {
      expect(await refused({ seen: [top, join(folder, path)] })).toContain(
        `${join(folder, path)} belongs to git or Retinue`,
      )
    }
    expect(await refused({ seen: [top, join(folder, 'gone')] })).toContain('the sandbox could not be put up')
    expect(cannotConceal(openFence(top, { concealed: [folder], seen: [top, join(folder, '.retinue/skills')] }))).toBe(
      null,
    )
  })

  it('is not started where a link was put in the way of what is seen', async () => {
    const project = projectWithWorktree(join(temporaryFolder(), 'project'), { files: FILES })
    const modules = link(project, 'node_modules', { 'node_modules/x': '' })
    const command = `cat ${modules}/config`
    renameSync(modules, `${modules}.old`)
    symlinkSync('.git', modules)
    const result = await run(project, command, { seen: [project.top, modules] })
    expect(result).toMatchObject({ status: 'failed', stdout: '', message: expect.stringContaining(modules) })
  })

  it('leaves no trace of worktrees that are gone, and keeps what is used', async () => {
    const folder = temporaryFolder()
    const trees = new Trees({ folders: 100, trees: 5 })
    const used = openFence(join(folder, 'used'))
    put(used.root, { 'a/b': '' })
    const first = trees.for(used)
    await first.walk()
    for (let i = 0; i < 50; i++) {
      const root = join(folder, `w${i}`)
      put(root, { 'a/b': '' })
      await trees.for(openFence(root)).walk()
      expect(trees.for(used)).toBe(first)
      rmSync(root, { recursive: true })
    }
    expect(trees.size).toBe(2)
    for (let i = 0; i < 50; i++) {
      const root = join(folder, `w${i}`)
      put(root, Object.fromEntries(Array.from({ length: 60 }, (_, j) => [`f${j}/b`, ''])))
      await trees.for(openFence(root)).walk()
      trees.for(used)
    }
    expect(trees.size).toBeLessThanOrEqual(4)
    expect(trees.for(used)).toBe(first)
  })
})

const VIEW: View = {
  machine: {
    emptied: ['/home', '/tmp'],
    homes: ['/home/ada'],
    tools: ['/home/ada/.cargo'],
    secrets: [{ path: '/etc/shadow', kind: 'file' }],
    home_secrets: [],
    settings: [],
    levers: [],
  },
  around: { concealed: ['/home/ada/work'], seen: ['/home/ada/work/node_modules'] },
  readable: ['/home/ada/work/.retinue/worktrees/r/a'],
  writable: ['/home/ada/work/.retinue/worktrees/r/a'],
  protected: ['/home/ada/work/.retinue/worktrees/r/a/.git'],
  held: [],
  hidden: [],
  shown: [],
  sockets: ['/home/ada/work/server.sock', '/home/ada/work/node_modules/s.sock'],
  forbids_namespaces: true,
}

it('conceals first, then shows, then comes to the worktree', () => {
  const root = '/home/ada/work/.retinue/worktrees/r/a'
  const args = bwrapArguments(openFence(root), root, VIEW).join(' ')
  expect(args.slice(args.indexOf('--tmpfs'))).toBe(
    [
      '--tmpfs /home --tmpfs /tmp --ro-bind-try /home/ada/.cargo /home/ada/.cargo --ro-bind /dev/null /etc/shadow',
      '--dir /home/ada --tmpfs /home/ada/work --ro-bind /home/ada/work/node_modules /home/ada/work/node_modules',
      `--ro-bind /dev/null /home/ada/work/node_modules/s.sock --bind ${root} ${root} --ro-bind ${root}/.git ${root}/.git`,
      `--remount-ro /home/ada/work --chdir ${root}`,
    ].join(' '),
  )
  const { inside } = planMounts(openFence(root), VIEW)
  expect(misplaced(inside, process.pid)).toBe('/home/ada/work')
})
