import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { CommandResult } from '../../src/host/index.js'
import { strengthOf } from '../../src/host/sandbox/bubblewrap.js'
import { systemCallFilter } from '../../src/host/sandbox/seccomp.js'
import { Tree } from '../../src/host/sandbox/tree.js'
import { describeSandboxed } from '../support/sandbox.js'
import { hostCode, runWithHost } from './another.js'
import { fenceOf, run } from './fenced.js'
import { put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
const IS_ROOT = process.getuid?.() === 0

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
