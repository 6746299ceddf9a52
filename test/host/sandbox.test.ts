import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CommandResult, type CommandSpec, createHost, type Fence } from '../../src/host/index.js'
import { strengthOf } from '../../src/host/sandbox/bubblewrap.js'
import { misplaced } from '../../src/host/sandbox/mounts.js'
import { bwrapArguments, type Mount, type View } from '../../src/host/sandbox/plan.js'
import { systemCallFilter } from '../../src/host/sandbox/seccomp.js'
import { Tree } from '../../src/host/sandbox/tree.js'
import { describeSandboxed } from '../support/sandbox.js'
import { hostCode, runWithHost } from './another.js'
import { git, initRepository, put, temporaryFolders, until } from './helpers.js'

const temporaryFolder = temporaryFolders()
const host = createHost()
const IS_ROOT = process.getuid?.() === 0

function fenceOf(root: string, options: Partial<Fence> = {}): Fence {
  return { root, write_paths: [['**']], read_paths: [['**']], hidden: [], network: false, ...options }
}

function run(
  root: string,
  command: CommandSpec['command'],
  fence: Partial<Fence> = {},
  spec: Partial<CommandSpec> = {},
): Promise<CommandResult> {
  return host.processes.run({
    command,
    cwd: root,
    fence: fenceOf(root, fence),
    timeout_ms: 120_000,
    max_output_bytes: 100_000,
    ...spec,
  })
}

/** How many processes live that have the mark in their command line as a word of its own. */
function carrying(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(mark)
    } catch {
      return false
    }
  }).length
}

describeSandboxed('a fenced command', () => {
  it('is a command like any other', async () => {
    const root = temporaryFolder()
    const { duration_ms, ...result } = await run(
      root,
      'echo out; echo err > /dev/stderr; cat; pwd; exit 3',
      {},
      { stdin: 'in\n' },
    )
    expect(duration_ms).toBeGreaterThanOrEqual(0)
    expect(result).toEqual({
      status: 'exited',
      exit_code: 3,
      signal: null,
      output: expect.stringContaining('err\n'),
      stdout: `out\nin\n${root}\n`,
      output_bytes: 4 + 4 + 3 + root.length + 1,
      dropped_bytes: 0,
      message: null,
    })
    const args = ['$HOME', '; exit 1', '', "a'b"]
    expect(await run(root, ['printf', '[%s]', ...args])).toMatchObject({ stdout: args.map((a) => `[${a}]`).join('') })
  })

  it('makes files that belong to the person, and leaves nothing else behind', async () => {
    const root = temporaryFolder()
    await run(root, 'mkdir made && echo hello > made/file')
    expect(readdirSync(root, { recursive: true })).toEqual(['made', 'made/file'])
    expect(readFileSync(join(root, 'made/file'), 'utf8')).toBe('hello\n')
    expect(statSync(join(root, 'made/file')).uid).toBe(process.getuid?.())
  })

  it('has an empty home and temporary folder that it may fill, and the tools of the person', async () => {
    const root = temporaryFolder()
    const home = temporaryFolder()
    put(home, { '.cargo/config.toml': 'tool\n', 'letter.txt': 'private\n', 'tools/bin/mine': '#!/bin/sh\necho mine\n' })
    chmodSync(join(home, 'tools/bin/mine'), 0o755)
    const env = { HOME: home, PATH: `${home}/tools/bin:${process.env.PATH}`, TMPDIR: join(home, 'no') }
    const commands = 'mine; cat ~/.cargo/config.toml; ls -A ~; mktemp -u; touch ~/x /tmp/x; touch ~/.cargo/x'
    const result = await run(root, commands, {}, { env })
    expect(result.output).toMatch(/^mine\ntool\n\.cargo\ntools\n\/tmp\/tmp\.\w+\ntouch: [^\n]*Read-only file system\n$/)
    expect(readdirSync(home).sort()).toEqual(['.cargo', 'letter.txt', 'tools'])
  })

  it('works on a repository that it can look at but not change', async () => {
    const root = temporaryFolder()
    initRepository(root, { 'a.txt': 'one\n' })
    const result = await run(root, 'echo two > a.txt; git diff --stat; git log --oneline | wc -l; git add a.txt')
    expect(result.output).toMatch(/a\.txt \| 2 \+-\n.*\n1\nfatal: [^\n]*index\.lock[^\n]*Read-only/s)
  })

  it('has the network only where it is said so', async () => {
    const root = temporaryFolder()
    const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const speak = `cat < /dev/tcp/127.0.0.1/${port}`
    try {
      expect(await run(root, speak, { network: true })).toMatchObject({ stdout: 'hello\n' })
      expect(await run(root, speak)).toMatchObject({ stdout: '', exit_code: 1 })
      expect(await run(root, 'ls -A /run; test -r /etc/resolv.conf && echo names', { network: true })).toMatchObject({
        output: 'names\n',
      })
    } finally {
      server.close()
    }
  })

  it('is asked to end before it is ended, and its last words are kept', async () => {
    const command = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    const controller = new AbortController()
    const onOutput = (text: string) => text.includes('ready') && controller.abort()
    const result = await run(temporaryFolder(), command, {}, { signal: controller.signal, onOutput })
    expect(result).toMatchObject({
      status: 'aborted',
      exit_code: 5,
      stdout: 'ready\nbye\n',
    })
  })

  it.each<[layers: string[][], writable: string[]]>([
    [[['**']], ['a.txt', 'new.txt', 'src/b.txt', 'src/new.txt', 'src/deep/c.txt', 'docs/d.md']],
    [[[]], []],
    [[['src/**']], ['src/b.txt', 'src/new.txt', 'src/deep/c.txt']],
    [
      [
        ['src', 'docs'],
        ['src/deep/**', 'docs/d.md', 'other'],
      ],
      ['src/deep/c.txt', 'docs/d.md'],
    ],
    [[['**'], ['docs/']], ['docs/d.md']],
    [[['*.txt', 'src/d*/**']], ['a.txt', 'src/deep/c.txt']],
    [
      [['**/*.txt'], ['src/**']],
      ['src/b.txt', 'src/deep/c.txt'],
    ],
    [[['nowhere/**']], []],
    [[['link/**']], []],
  ])('may write %j', async (write_paths, writable) => {
    const root = temporaryFolder()
    put(root, { 'a.txt': '', 'src/b.txt': '', 'src/deep/c.txt': '', 'docs/d.md': '' })
    symlinkSync('src', join(root, 'link'))
    const files = ['a.txt', 'new.txt', 'src/b.txt', 'src/new.txt', 'src/deep/c.txt', 'docs/d.md']
    const result = await run(
      root,
      `for f in ${files.join(' ')}; do (echo x >> $f) 2>/dev/null && echo $f; done; true`,
      { write_paths },
    )
    expect({ message: result.message, files: result.stdout.split('\n').filter(Boolean) }).toEqual({
      message: null,
      files: writable,
    })
  })

  it.each<[layers: string[][], readable: string[]]>([
    [[['src/**']], ['src/b.txt', 'src/deep/c.txt']],
    [
      [['**'], ['a.txt', 'src/deep']],
      ['a.txt', 'src/deep/c.txt'],
    ],
    [[['**/*.md']], ['docs/d.md']],
    [[[]], []],
  ])('may read %j, and writes nothing else', async (read_paths, readable) => {
    const root = temporaryFolder()
    put(root, { 'a.txt': 'x', 'src/b.txt': 'x', 'src/deep/c.txt': 'x', 'docs/d.md': 'x' })
    const result = await run(
      root,
      'find . -type f | sort | sed s,./,,; for f in a.txt src/b.txt; do echo y > $f; done 2>/dev/null; touch new',
      { read_paths },
    )
    expect(result.stdout.split('\n').filter(Boolean)).toEqual(readable)
    expect(existsSync(join(root, 'new'))).toBe(false)
    for (const file of ['a.txt', 'src/b.txt']) {
      expect(readFileSync(join(root, file), 'utf8').trim()).toBe(readable.includes(file) ? 'y' : 'x')
    }
  })

  it('does not see what is hidden, wherever it is when it starts', async () => {
    const root = temporaryFolder()
    const hidden = ['**/.env', '**/*.pem', 'private/**', '.git/secret']
    put(root, {
      '.env': 'no',
      'a/b/.env': 'no',
      'key.pem': 'no',
      'private/x': 'no',
      '.git/secret': 'no',
      'plain.txt': 'yes',
      real: 'no',
    })
    symlinkSync('../../real', join(root, 'a/b/linked.pem'))
    const look = () => run(root, 'grep -rho . . 2>/dev/null | tr -d "\\n"; cat .env', { hidden })
    expect(await look()).toMatchObject({ stdout: 'yes', output: expect.stringContaining('.env: Permission denied') })
    put(root, { 'later/.env': 'no', 'a/.env': 'no' })
    renameSync(join(root, 'a'), join(root, 'c'))
    expect(await look()).toMatchObject({ stdout: 'yes' })
    rmSync(join(root, 'c'), { recursive: true })
    expect(await look()).toMatchObject({ status: 'exited' })
    expect(readdirSync(root).sort()).toEqual(['.env', '.git', 'key.pem', 'later', 'plain.txt', 'private', 'real'])
  })

  it('finds a folder read-only in which .git is a link', async () => {
    const root = temporaryFolder()
    put(root, { 'sub/file': '', 'store/config': '' })
    symlinkSync('../store', join(root, 'sub/.git'))
    expect(await run(root, 'rm sub/.git || touch sub/new || touch ok')).toMatchObject({ exit_code: 0 })
    expect(readdirSync(join(root, 'sub')).sort()).toEqual(['.git', 'file'])
    expect(existsSync(join(root, 'ok'))).toBe(true)
  })

  it('inherits nothing that Retinue itself was given', async () => {
    const folder = temporaryFolder()
    const script = `
      const fence = ${JSON.stringify(fenceOf(folder))}
      for (const f of [undefined, fence]) {
        const r = await createHost().processes.run({ command: 'for n in 4 7 12 200; do echo leak >&$n; done; true', cwd: ${JSON.stringify(folder)}, ...(f && { fence: f }), timeout_ms: 9000, max_output_bytes: 9000 })
        console.log(r.status)
      }`
    const given = join(folder, 'given')
    const front = ['/bin/bash', '-c', `exec 4>>${given} 7>>${given} 12>>${given} 200>>${given}; exec "$@"`, 'bash']
    expect(runWithHost(folder, await hostCode(), script, front)).toMatchObject({
      stdout: 'exited\nexited\n',
      stderr: '',
    })
    expect(readFileSync(given, 'utf8')).toBe('')
  })
})

describeSandboxed('names that belong to Retinue', () => {
  const names = (root: string) => readdirSync(root).sort()

  it('are held by any number of commands at once, and free again after the last', async () => {
    const root = temporaryFolder()
    const others = [createHost(), createHost()]
    const spec = {
      command: 'echo x > retinue.yaml; echo x > .retinue; sleep 0.05; rmdir retinue.yaml .git',
      cwd: root,
      fence: fenceOf(root),
      timeout_ms: 20_000,
      max_output_bytes: 1000,
    }
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => (others[i % 2] ?? host).processes.run(spec)))
    expect(results.map(({ status, message }) => ({ status, message }))).toEqual(
      results.map(() => ({ status: 'exited', message: null })),
    )
    expect(names(root)).toEqual([])
  })

  it('are given back for a Retinue that was killed meanwhile', async () => {
    const root = temporaryFolder()
    const dead = spawn('true')
    await once(dead, 'exit')
    mkdirSync(join(root, `retinue.yaml/.retinue-tmp-${dead.pid}-0`), { recursive: true })
    await run(root, 'true')
    expect(names(root)).toEqual([])
  })

  it('are given back also when no command runs any more, and git never sees them', async () => {
    const root = temporaryFolder()
    initRepository(root)
    const seen: string[] = []
    const looked = new AbortController()
    await host.processes.run({
      command: 'echo ready; sleep 30',
      cwd: root,
      fence: fenceOf(root),
      timeout_ms: 20_000,
      max_output_bytes: 1000,
      signal: looked.signal,
      onOutput: () => {
        seen.push(git(root, 'status', '--porcelain'), names(root).join(' '))
        looked.abort()
      },
    })
    expect(seen.slice(0, 2)).toEqual(['', expect.stringContaining('retinue.yaml')])
    const dead = spawn('true')
    await once(dead, 'exit')
    mkdirSync(join(root, `retinue.yaml/.retinue-tmp-${dead.pid}-0`), { recursive: true })
    await createHost().workspace(root)
    expect(names(root)).toEqual(['.git', 'a.txt'])
  })

  it("are left alone where they are somebody's own", async () => {
    const root = temporaryFolder()
    mkdirSync(join(root, '.git'))
    put(root, { '.retinue/db': 'x', 'retinue.yml': 'mode: plan\n' })
    await run(root, 'rm -rf .git .retinue retinue.yml; true')
    expect(names(root)).toEqual(['.git', '.retinue', 'retinue.yml'])
    expect(readdirSync(join(root, '.git'))).toEqual([])
  })
})

describeSandboxed('somebody who swaps files while a fence is put up', () => {
  it('opens nothing', { timeout: 120_000 }, async () => {
    const root = temporaryFolder()
    const outside = temporaryFolder()
    put(root, { 'sub/file': 'inside\n', 'box/.env': 'secret\n' })
    put(outside, { file: 'outside\n' })
    const swap = `cd ${root}; while :; do mv sub kept; ln -s ${outside} sub; rm sub; mv kept sub; mv box moved; mv moved box; done`
    const swapper = spawn('bash', ['-c', swap], { stdio: 'ignore', detached: true })
    let stood = 0
    try {
      for (let i = 0; i < 40; i++) {
        const result = await run(root, 'cat sub/file; echo planted > sub/planted; cat */.env', {
          write_paths: [['sub/**']],
          hidden: ['**/.env'],
        })
        if (result.status === 'exited') stood++
        else
          expect(result).toMatchObject({
            status: 'failed',
            message: expect.stringContaining('the sandbox could not be put up'),
          })
        expect(result.output).not.toMatch(/outside|secret/)
      }
    } finally {
      process.kill(-(swapper.pid as number), 'SIGKILL')
      await once(swapper, 'exit')
    }
    expect(readdirSync(outside)).toEqual(['file'])
    expect(stood).toBeGreaterThan(0)
  })
})

describeSandboxed('the look at a fence before a command starts', () => {
  /** What is wrong with the mounts of a process that was given these. */
  async function lookAt(planned: Mount[], ...args: string[]): Promise<string | null> {
    const common = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--die-with-parent']
    const child = spawn('bwrap', [...common, ...args, 'sh', '-c', 'echo; cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    const wrong = misplaced(planned, Number(inside))
    child.stdin.end()
    await once(child, 'exit')
    return wrong
  }

  it('finds a mount that is missing, elsewhere, of another kind, writable, or of something else', async () => {
    const root = temporaryFolder()
    const other = temporaryFolder()
    put(root, { 'sub/file': '', file: '' })
    const sub = join(root, 'sub')
    const file = join(root, 'file')
    const own = (writable: boolean): Mount => ({ kind: 'own', path: sub, writable })
    expect(await lookAt([own(true)], '--bind', sub, sub)).toBe(null)
    expect(await lookAt([own(false)], '--ro-bind', sub, sub)).toBe(null)
    expect(await lookAt([own(false)], '--bind', sub, sub)).toBe(sub)
    expect(await lookAt([own(true)], '--bind', other, sub)).toBe(sub)
    expect(await lookAt([own(true)], '--bind', sub, other)).toBe(sub)
    expect(await lookAt([own(true)])).toBe(sub)
    expect(await lookAt([{ kind: 'empty', path: sub, writable: true }], '--tmpfs', sub)).toBe(null)
    expect(await lookAt([{ kind: 'empty', path: sub, writable: true }], '--bind', sub, sub)).toBe(sub)
    expect(await lookAt([{ kind: 'nothing', path: file }], '--ro-bind', '/dev/null', file)).toBe(null)
    expect(await lookAt([{ kind: 'nothing', path: file }])).toBe(file)
  })

  it('notices that a folder was moved while the files were looked at', async () => {
    const root = temporaryFolder()
    put(root, { 'box/.env': 'secret', 'other/file': '' })
    let isMoved = false
    const look = {
      tag: (_: string, name: string) => {
        if (name === 'box' && !isMoved) renameSync(join(root, 'box'), join(root, 'moved'))
        if (name === 'box') isMoved = true
        return name === '.env' ? name : null
      },
      enters: () => true,
    }
    const tree = new Tree(root, look)
    expect(await tree.walk()).toMatchObject({ found: [], unsettled: true })
    expect(await tree.walk()).toMatchObject({ found: [{ path: 'moved/.env', kind: 'file' }], unsettled: false })
  })
})

describeSandboxed('Retinue killed without warning', () => {
  it('takes everything inside its fences with it', async () => {
    const root = temporaryFolder()
    const folder = temporaryFolder()
    const mark = `1000.${randomInt(1e9, 1e10)}`
    const script = `
      await createHost().processes.run({
        command: 'setsid sleep ${mark} & trap "" TERM HUP; echo; sleep ${mark}',
        cwd: ${JSON.stringify(root)}, fence: ${JSON.stringify(fenceOf(root))},
        timeout_ms: 1e6, max_output_bytes: 10, onOutput: () => console.log('started') })`
    const file = join(folder, 'retinue.mjs')
    put(folder, { 'retinue.mjs': `${await hostCode()}\n${script}` })
    const retinue = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    await once(retinue.stdout, 'data')
    await until(() => carrying(mark) >= 2)
    process.kill(-(retinue.pid as number), 'SIGKILL')
    await until(() => carrying(mark) === 0, 10_000)
  })
})

describeSandboxed('a fence that cannot be put up', () => {
  const no = (result: CommandResult, reason: RegExp) =>
    expect(result).toMatchObject({
      status: 'failed',
      exit_code: null,
      output: '',
      message: expect.stringMatching(reason),
    })

  it('means that the command does not run, with the reason', async () => {
    const root = temporaryFolder()
    no(await run('/', 'true'), /could not be put up: a workspace that is the whole file system/)
    no(await run(root, 'true', {}, { cwd: temporaryFolder() }), /could not be put up: bwrap: .*chdir/)
    const many = temporaryFolder()
    put(many, Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`${i}.pem`, ''])))
    no(
      await run(many, 'touch ran', { hidden: ['*.pem'] }),
      /\d+ files and folders would have to be fenced in one by one/,
    )
    mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]))
    no(await run(root, 'touch ran'), /name is not UTF-8/)
    expect([existsSync(join(root, 'ran')), existsSync(join(many, 'ran'))]).toEqual([false, false])
  })

  it('is not waited for longer than for the command', { timeout: 180_000 }, async () => {
    const root = temporaryFolder()
    // The last folder that is looked at is one that no fence can be put around.
    const depth = 400
    for (let i = 0; i < depth; i++) put(root, { [`${'d/'.repeat(i)}file`]: '', [`${'d/'.repeat(i)}other`]: '' })
    mkdirSync(Buffer.concat([Buffer.from(`${root}/${'d/'.repeat(depth - 1)}`), Buffer.from([0xff])]))
    const read_paths = [Array.from({ length: 40 }, (_, i) => `**/a*b*c/${i}`)]
    const none = { exit_code: null, output: '', message: null }
    expect(await run(root, 'true', { read_paths }, { timeout_ms: 1 })).toMatchObject({ ...none, status: 'timeout' })
    const signal = AbortSignal.abort()
    expect(await run(root, 'true', { read_paths }, { signal })).toMatchObject({ ...none, status: 'aborted' })
    no(await run(root, 'true', { read_paths }), /name is not UTF-8/)
  })

  it('does not send the words of bubblewrap as if they were those of the command', async () => {
    const root = temporaryFolder()
    let said = ''
    await run(root, 'true', {}, { cwd: temporaryFolder(), onOutput: (text) => (said += text) })
    expect(said).toBe('')
  })

  it('tells its own failure from a command that ends as it would', async () => {
    expect(await run(temporaryFolder(), 'echo "bwrap: no" >&2; exit 1')).toMatchObject({
      status: 'exited',
      exit_code: 1,
      output: 'bwrap: no\n',
    })
  })

  it('is one where the walk through the workspace has no end', async () => {
    const root = temporaryFolder()
    put(root, Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a/${i}`, ''])))
    const look = { tag: () => null, enters: () => true }
    expect(await new Tree(root, look, 10).walk()).toMatchObject({
      ok: false,
      message: expect.stringContaining('more than 10 files'),
    })
    expect(await new Tree(root, look, 12).walk()).toMatchObject({ ok: true })
  })
})

describeSandboxed('what is said about the sandbox', () => {
  let code: string
  beforeAll(async () => {
    code = await hostCode()
  })
  const FACTS = 'console.log(JSON.stringify((await createHost().facts()).sandbox))'
  /** In a machine like this one, but for a difference. */
  const machine = (...difference: string[]) => [
    'bwrap',
    '--dev-bind',
    '/',
    '/',
    '--bind',
    '/tmp',
    '/tmp',
    ...difference,
    '--',
  ]
  const facts = (front?: string[], script = FACTS) => {
    const { stdout, stderr } = runWithHost(temporaryFolder(), code, script, front)
    expect(stderr).toBe('')
    return JSON.parse(stdout) as { kind: string; reason: string }
  }

  it('is that it works, after it was tried, with nothing left of that', () => {
    const folder = temporaryFolder()
    expect(facts(['env', `TMPDIR=${folder}`])).toEqual({
      kind: 'bubblewrap',
      reason: expect.stringMatching(/^bubblewrap \d+\.\d+/),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('is what to install where it is missing, and a bwrap in the workspace is not taken for it', () => {
    const missing = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].filter(existsSync)
    const hiding = machine(...missing.flatMap((path) => ['--ro-bind', '/dev/null', path]))
    expect(facts(hiding)).toEqual({
      kind: 'none',
      reason: expect.stringMatching(/^bubblewrap is not installed: .*bubblewrap/),
    })
    const root = temporaryFolder()
    put(root, { 'bin/bwrap': '#!/bin/sh\ntouch planted\necho bubblewrap 1.0\n' })
    chmodSync(join(root, 'bin/bwrap'), 0o755)
    const planted = `
      process.env.PATH = ${JSON.stringify(join(root, 'bin'))} + ':' + process.env.PATH
      const fence = ${JSON.stringify(fenceOf(root))}
      const { status, message } = await createHost().processes.run({ command: 'touch ran', cwd: fence.root, fence, timeout_ms: 9000, max_output_bytes: 100 })
      console.log(JSON.stringify({ kind: status, reason: message }))`
    expect(facts(hiding, planted)).toEqual({
      kind: 'failed',
      reason: expect.stringContaining('bubblewrap (bwrap) is not installed'),
    })
    expect(readdirSync(root)).toEqual(['bin'])
  })

  it('is what it lacks where it is weaker', () => {
    const folder = temporaryFolder()
    copyFileSync('/usr/bin/bwrap', join(folder, 'real'))
    const old = `#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.6.2 || exec ${folder}/real "$@"\n`
    put(folder, { bwrap: old })
    for (const name of ['real', 'bwrap']) chmodSync(join(folder, name), 0o755)
    expect(facts(machine('--ro-bind', join(folder, 'bwrap'), '/usr/bin/bwrap'))).toEqual({
      kind: 'bubblewrap',
      reason: 'bubblewrap 0.6.2; weaker: commands can make user namespaces, because bubblewrap is before 0.8',
    })
    const bwrap = { path: '/usr/bin/bwrap', version: 'bubblewrap 0.8.0', forbids_namespaces: true }
    expect(strengthOf(bwrap, systemCallFilter('riscv64'), 'riscv64')).toBe(
      'bubblewrap 0.8.0; weaker: no filter for system calls on riscv64',
    )
    expect(strengthOf(bwrap, systemCallFilter('x64'), 'x64')).toBe('bubblewrap 0.8.0')
  })

  it('is why it does not work where it is forbidden', () => {
    const forbidding = machine('--unshare-user', '--disable-userns')
    expect(facts(forbidding)).toEqual({
      kind: 'none',
      reason: expect.stringMatching(/does not work here: the sandbox could not be put up: bwrap: /),
    })
  })

  it.runIf(IS_ROOT)('is the same for somebody without any rights', () => {
    const folder = temporaryFolder()
    put(folder, { 'locked/.git/config': 'x', '.env': 'secret' })
    chmodSync(folder, 0o755)
    for (const path of ['', 'locked', 'locked/.git', 'locked/.git/config', '.env'])
      chownSync(join(folder, path), 65534, 65534)
    const script = `
      const root = ${JSON.stringify(folder)}
      const host = createHost()
      const fence = { root, write_paths: [['**']], read_paths: [['**']], hidden: ['**/.env'], network: false }
      const run = (command) => host.processes.run({ command, cwd: root, fence, timeout_ms: 20000, max_output_bytes: 1000 })
      const first = await run('echo hello > made; cat .env; chmod 000 locked; touch /etc/x; id -u')
      const second = await run('chmod 755 locked; echo x > locked/.git/config; touch retinue.yaml/x')
      console.log(JSON.stringify({ kind: (await host.facts()).sandbox.kind, reason: [first.message, second.message, first.stdout].join() }))`
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'env', 'HOME=/nonexistent']
    expect(facts(nobody, script)).toEqual({ kind: 'bubblewrap', reason: ',,65534\n' })
    expect(statSync(join(folder, 'made')).uid).toBe(65534)
    expect(readFileSync(join(folder, 'locked/.git/config'), 'utf8')).toBe('x')
    expect(readdirSync(folder).sort()).toEqual(['.env', 'locked', 'made'])
  })
})

describe('what bubblewrap is told', () => {
  const view: View = {
    machine: {
      emptied: ['/home', '/tmp'],
      homes: ['/home/ada'],
      tools: ['/home/ada/.cargo'],
      secrets: [{ path: '/etc/shadow', kind: 'file' }],
      home_secrets: [],
      settings: [],
      levers: [],
    },
    around: { concealed: [], seen: [] },
    readable: ['/home/ada/work'],
    writable: ['/home/ada/work'],
    protected: ['/home/ada/work/.git'],
    held: ['/home/ada/work/retinue.yaml'],
    hidden: [
      { path: '/home/ada/work/.env', kind: 'file' },
      { path: '/home/ada/work/a/b/keys', kind: 'folder' },
    ],
    shown: [],
    sockets: ['/home/ada/.agent', '/var/lib/service.sock'],
    forbids_namespaces: true,
  }

  it('is everything read-only, then what is hidden, then the workspace', () => {
    expect(bwrapArguments(fenceOf('/home/ada/work'), '/home/ada/work/src', view).join(' ')).toBe(
      [
        '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --disable-userns',
        '--cap-drop ALL --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc',
        '--tmpfs /home --tmpfs /tmp --ro-bind-try /home/ada/.cargo /home/ada/.cargo',
        '--ro-bind /dev/null /etc/shadow --ro-bind /dev/null /var/lib/service.sock --dir /home/ada',
        '--bind /home/ada/work /home/ada/work --bind /home/ada/work/a /home/ada/work/a',
        '--bind /home/ada/work/a/b /home/ada/work/a/b --ro-bind /home/ada/work/.git /home/ada/work/.git',
        '--tmpfs /home/ada/work/retinue.yaml --ro-bind /dev/null /home/ada/work/.env --tmpfs /home/ada/work/a/b/keys',
        '--remount-ro /home/ada/work/retinue.yaml --remount-ro /home/ada/work/a/b/keys --chdir /home/ada/work/src',
      ].join(' '),
    )
  })

  it('hides the secrets of a home folder that is itself the workspace', () => {
    const machine = {
      ...view.machine,
      emptied: ['/home/ada', '/tmp'],
      home_secrets: [{ path: '/home/ada/.ssh', kind: 'folder' as const }],
    }
    const own = {
      ...view,
      machine,
      readable: ['/home/ada'],
      writable: ['/home/ada'],
      protected: [],
      held: [],
      hidden: [],
    }
    const args = bwrapArguments(fenceOf('/home/ada'), '/home/ada', own).join(' ')
    expect(args).toContain('--bind /home/ada /home/ada')
    expect(args).toContain('--tmpfs /home/ada/.ssh')
    expect(args).not.toContain('--tmpfs /home/ada ')
  })
})
