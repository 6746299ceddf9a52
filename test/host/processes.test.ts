import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandResult, type CommandSpec, createHost } from '../../src/host/index.js'
import { livingInSession, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
const { processes } = createHost()

function run(command: CommandSpec['command'], options: Partial<CommandSpec> = {}): Promise<CommandResult> {
  return processes.run({ command, cwd: '/tmp', timeout_ms: 100_000, max_output_bytes: 100_000, ...options })
}

/** A command that tells its session first. */
const IN_SESSION = 'echo $$; '
const sessionOf = (result: CommandResult) => Number(result.stdout.split('\n')[0])

describe('a command', () => {
  it('is a line for the shell', async () => {
    const { duration_ms, ...result } = await run('echo out; echo err >&2; exit 3', { cwd: temporaryFolder() })
    expect(result).toEqual({
      status: 'exited',
      exit_code: 3,
      signal: null,
      output: expect.stringMatching(/^(?:out\nerr|err\nout)\n$/),
      stdout: 'out\n',
      output_bytes: 8,
      dropped_bytes: 0,
      message: null,
    })
    expect(duration_ms).toBeGreaterThanOrEqual(0)
  })

  it('is bash where there is bash', async () => {
    expect(await run('[[ a == a* ]] && echo "$BASH $0 $#"')).toMatchObject({
      stdout: '/bin/bash /bin/bash 0\n',
    })
  })

  it('is a program with arguments that no shell sees', async () => {
    const args = ['$HOME', '`id`', '; exit 1', '', "a'b", '*', '-n']
    expect(await run(['printf', '[%s]', ...args])).toMatchObject({ stdout: args.map((arg) => `[${arg}]`).join('') })
  })

  it('runs in its folder, with nothing to read but what it is given', async () => {
    const folder = temporaryFolder()
    expect(await run('pwd; cat', { cwd: folder })).toMatchObject({ stdout: `${folder}\n`, exit_code: 0 })
    expect(await run(['cat'], { stdin: 'héllo' })).toMatchObject({ stdout: 'héllo' })
    expect(await run('true', { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ exit_code: 0 })
  })

  it('can write to its output by name', async () => {
    const result = await run('echo err > /dev/stderr; echo out | tee /dev/fd/2; echo end >> /dev/stdout')
    expect(result).toMatchObject({ exit_code: 0, stdout: 'out\nend\n', output: expect.stringContaining('err\n') })
  })

  it('inherits no descriptor of ours', async () => {
    const ours = (await run('ls -l /proc/self/fd')).stdout
    expect(ours).not.toContain('socket:')
    expect(ours).not.toContain(' 3 -> socket')
  })

  it('that cannot be started fails with a reason', async () => {
    const folder = temporaryFolder()
    const no = (command: CommandSpec['command'], options: Partial<CommandSpec>, reason: RegExp) =>
      expect(run(command, options)).resolves.toMatchObject({ status: 'failed', message: expect.stringMatching(reason) })
    await no(['no-such-program'], {}, /no-such-program/)
    await no([''], {}, /not a program/)
    await no([], {}, /not a program/)
    await no('true', { cwd: join(folder, 'none') }, /none is not a folder/)
    await no(['printf', 'a\0b'], {}, /could not be started/)
    await no(['printf', 'x'.repeat(3_000_000)], {}, /could not be started.*E2BIG/)
  })

  it('is not found in the folder it runs in, whatever the PATH says', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'mine'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
    const env = { PATH: `.::${process.env.PATH}` }
    expect(await run(['mine'], { cwd: folder, env })).toMatchObject({ status: 'failed' })
    expect(await run(['./mine'], { cwd: folder, env })).toMatchObject({ stdout: 'mine\n' })
  })

  it('ended by a signal says which', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ status: 'signalled', signal: 'SIGSEGV', exit_code: null })
  })

  it('may wait until all its children are gone', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'wait.c'), '#include <sys/wait.h>\nint main(){while(wait(0)>0);return 7;}\n')
    execFileSync('gcc', ['-o', join(folder, 'wait'), join(folder, 'wait.c')])
    expect(await run([join(folder, 'wait')], { timeout_ms: 2000 })).toMatchObject({ status: 'exited', exit_code: 7 })
  })
})

describe('the environment of a command', () => {
  const before = { ...process.env }
  beforeAll(() => {
    Object.assign(process.env, {
      OPENAI_API_KEY: 'leak-1',
      GITHUB_TOKEN: 'leak-2',
      MY_SECRET_THING: 'leak-3',
      LC_SECRET_KEY: 'leak-4',
      SSH_AUTH_SOCK: 'leak-5',
      GIT_DIR: 'leak-6',
      NODE_OPTIONS: '',
      LC_TIME: 'C',
      TERM: 'xterm-256color',
    })
  })
  afterAll(() => {
    process.env = before
  })

  it('has no secrets and nothing else that was not meant for it', async () => {
    const { stdout } = await run(['env'], { env: { MINE: 'yes' } })
    expect(stdout).not.toContain('leak')
    const names = stdout.split('\n').flatMap((line) => line.split('=')[0] || [])
    const allowed = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR|PWD|OLDPWD|_|SHLVL)$/
    const added = ['TERM', 'NO_COLOR', 'PAGER', 'GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'MINE']
    expect(names.filter((name) => !allowed.test(name)).sort()).toEqual(added.sort())
    expect(stdout).toContain('TERM=dumb\n')
    expect(stdout).toContain('LC_TIME=C\n')
  })
})

/** What they run would last for ever. A busy machine takes its time, also to set a trap: so they have two seconds. */
const LONG_MS = 50_000

describe('when the time is up', () => {
  it('a command is asked to end, and its last words are kept', async () => {
    const result = await run(`${IN_SESSION} trap 'echo bye; exit 5' TERM; while :; do sleep 0.01; done`, {
      timeout_ms: 2000,
    })
    expect(result).toMatchObject({ status: 'timeout', exit_code: 5, output: expect.stringContaining('bye') })
    expect(result.duration_ms).toBeLessThan(LONG_MS)
    expect(livingInSession(sessionOf(result))).toEqual([])
  })

  it('a command that ignores it is ended', async () => {
    const result = await run(`${IN_SESSION} trap '' TERM; sleep 1000 & sleep 1000`, { timeout_ms: 2000 })
    expect(result).toMatchObject({ status: 'timeout', signal: 'SIGKILL' })
    expect(result.duration_ms).toBeGreaterThanOrEqual(2500)
    expect(result.duration_ms).toBeLessThan(LONG_MS)
    expect(livingInSession(sessionOf(result))).toEqual([])
  })

  it('so are two hundred children that ignore it and hold the output open', async () => {
    const fork = `trap '' TERM; for i in $(seq 200); do sleep 1000 & done; echo forked; wait`
    let forked = (): void => {}
    const ready = new Promise<void>((resolve) => {
      forked = resolve
    })
    const controller = new AbortController()
    const running = run(`${IN_SESSION}${fork}`, {
      signal: controller.signal,
      onOutput: (chunk) => chunk.includes('forked') && forked(),
    })
    await ready
    const asked = performance.now()
    controller.abort()
    const result = await running
    expect(performance.now() - asked).toBeLessThan(LONG_MS)
    expect(result).toMatchObject({ status: 'aborted', signal: 'SIGKILL' })
    expect(livingInSession(sessionOf(result))).toEqual([])
  })

  it('output without end does not keep it from ending', async () => {
    const result = await run('yes', { timeout_ms: 100, max_output_bytes: 1000 })
    expect(result).toMatchObject({ status: 'timeout' })
    expect(result.duration_ms).toBeLessThan(LONG_MS)
    expect(result.output.length).toBeLessThan(1100)
  })

  it('a command that nobody wants any more is not even started', async () => {
    const file = join(temporaryFolder(), 'marker')
    expect(await run(['touch', file], { signal: AbortSignal.abort() })).toMatchObject({ status: 'aborted', output: '' })
    expect(await run(['test', '-e', file])).toMatchObject({ exit_code: 1 })
  })
})

describe('when a command has ended', () => {
  it('what it left running in its group is ended too, and does not hold it up', async () => {
    const result = await run(`${IN_SESSION} (trap '' TERM HUP; sleep 1000) & (sleep 1000 >/dev/null 2>&1) & echo done`)
    expect(result).toMatchObject({ status: 'exited', exit_code: 0, output: expect.stringContaining('done') })
    expect(result.duration_ms).toBeLessThan(LONG_MS)
    expect(livingInSession(sessionOf(result))).toEqual([])
  })

  // Known: who leaves the group leaves our reach until there is a sandbox. It must not hold up the result, though.
  it('what has left its group may live on, but is not waited for', async () => {
    const leave = `setsid sh -c 'echo $$; exec sleep 1000' & while ! [ -e /proc/$!/cwd ]; do :; done; sleep 0.2`
    const result = await run(leave)
    expect(result).toMatchObject({ status: 'exited', exit_code: 0 })
    expect(result.duration_ms).toBeLessThan(LONG_MS)
    const session = sessionOf(result)
    expect(livingInSession(session)).toEqual([session])
    process.kill(session, 'SIGKILL')
  })
})

describe('the output of a command', () => {
  it('keeps its beginning and its end, and says how much is missing', async () => {
    const { output, stdout, output_bytes, dropped_bytes } = await run('seq 1 100000', { max_output_bytes: 1000 })
    expect(output_bytes).toBe(588_895)
    expect(dropped_bytes).toBe(587_895)
    expect(output).toMatch(/^1\n2\n[\d\n]*\n\[\.\.\. 587895 bytes left out \.\.\.\]\n[\d\n]*\n99999\n100000\n$/)
    expect(stdout).toBe(output)
  })

  it('needs no more memory when there is a gigabyte of it', async () => {
    let peak = 0
    const before = process.memoryUsage.rss()
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 5)
    const command = "head -c 1000000000 /dev/zero | tr '\\0' x"
    const result = await run(command, { max_output_bytes: 8 * 1024 * 1024, timeout_ms: 150_000 })
    clearInterval(watch)
    expect(result).toMatchObject({ status: 'exited', output_bytes: 1_000_000_000 })
    expect(result.dropped_bytes).toBe(1_000_000_000 - 8 * 1024 * 1024)
    expect((peak - before) / 1e6).toBeLessThan(100)
  })

  it('is text whatever the bytes are, with no character broken by the way it came', async () => {
    expect(await run(`printf 'a\\xff\\xe2\\x82b\\xe2\\x82'`)).toMatchObject({ output: 'a\uFFFD\uFFFDb\uFFFD' })
    const pieces: string[] = []
    const slow = `for b in '\\xe2' '\\x82' '\\xac' '\\xf0\\x9f' '\\x99\\x82'; do printf "$b"; sleep 0.02; printf . >&2; sleep 0.02; done`
    const result = await run(slow, { onOutput: (piece) => pieces.push(piece) })
    expect(result.stdout).toBe('€🙂')
    expect(result.output.replaceAll('.', '')).toBe('€🙂')
    expect(pieces.join('')).toBe(result.output)
  })
})

it('runs many commands at once', async () => {
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => run(['echo', String(i)])))
  expect(results.map((result) => result.output)).toEqual(Array.from({ length: 50 }, (_, i) => `${i}\n`))
})
