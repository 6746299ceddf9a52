import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.js'
import { hostCode, runWithHost } from './another.js'
import { fenceOf, run } from './fenced.js'
import { initRepository, put, temporaryFolders, until } from './helpers.js'

const temporaryFolder = temporaryFolders()

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
