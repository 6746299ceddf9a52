import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { LONGEST_TIMER_MS } from './clock.js'
import { CommandOutput } from './command-output.js'
import { commandEnvironment } from './environment.js'
import { endGroup, signalGroup } from './group.js'
import type { CommandResult, CommandSpec, Processes } from './host.js'
import { argvOf, findProgram, leashed, START_FD } from './launch.js'
import { Leash } from './leash.js'
import { closePipe, type Pipe, Pipes, readPipe } from './pipes.js'

/** Between asking a command to end and ending it. */
const GRACE_MS = 500
/** How long a killed command may take to be reported dead before nobody waits for it any more. */
const GIVE_UP_MS = 200
/** How long output is still read when a process that left the group keeps the pipe open. */
const DRAIN_MS = 200

type Ready = { argv: string[]; env: Record<string, string> }
type Failed = { ok: false; message: string }
type Ending = { code: number | null; signal: string | null }
type Stopped = 'timeout' | 'aborted'

/** What commands share is kept ready between them, but not for ever: a host that nobody uses holds nothing. */
const IDLE_MS = 10_000

export function createProcesses(idle_ms = IDLE_MS): Processes {
  const pipes = new Pipes()
  const leash = new Leash()
  let running = 0
  let idle: NodeJS.Timeout | undefined
  return {
    async run(spec) {
      running++
      clearTimeout(idle)
      try {
        return await runOne(spec, pipes, leash)
      } finally {
        if (--running === 0) {
          idle = setTimeout(() => {
            leash.rest()
            pipes.closeSpare()
          }, idle_ms).unref()
        }
      }
    },
  }
}

async function runOne(spec: CommandSpec, pipes: Pipes, leash: Leash): Promise<CommandResult> {
  const started = performance.now()
  const output = new CommandOutput(spec.max_output_bytes, spec.onOutput)
  const finish = (status: CommandResult['status'], ending?: Ending | null, message?: string): CommandResult => ({
    status,
    exit_code: ending?.code ?? null,
    signal: ending?.signal ?? null,
    ...output.read(),
    duration_ms: Math.round(performance.now() - started),
    message: message ?? null,
  })

  const ready = await prepare(spec)
  if (!ready.ok) return finish('failed', null, ready.message)
  const ends = await takeBoth(pipes)
  if (spec.signal?.aborted) {
    if (ends) for (const pipe of ends) closePipe(pipe)
    return finish('aborted')
  }
  const launched = await launch(ready, spec, ends, output)
  if (!launched.ok) return finish('failed', null, launched.message)

  const { child, group } = launched
  const settled = settle(child, group, spec)
  const held = await leash.hold(group)
  if (held) start(child)
  else signalGroup(group, 'SIGKILL')
  const { ending, stopped } = await settled
  await endGroup(group)
  leash.release(group)
  await output.drain(DRAIN_MS)
  for (const stream of child.stdio) stream?.destroy()
  if (!held) return finish('failed', null, 'it could not be started so that it ends when Retinue does')
  return finish(stopped ?? (ending?.signal ? 'signalled' : 'exited'), ending)
}

async function prepare(spec: CommandSpec): Promise<({ ok: true } & Ready) | Failed> {
  const env = commandEnvironment(spec.env)
  const folder = await stat(spec.cwd).catch(() => null)
  if (!folder?.isDirectory()) return { ok: false, message: `${spec.cwd} is not a folder to run a command in` }
  const [name = '', ...args] = argvOf(spec)
  const program = findProgram(name, { cwd: spec.cwd, path: env.PATH ?? '' })
  if (program === null) return { ok: false, message: `${JSON.stringify(name)} is not a program on this machine` }
  return { ok: true, argv: [program, ...args], env }
}

async function takeBoth(pipes: Pipes): Promise<[Pipe, Pipe] | null> {
  const [out, err] = await Promise.all([pipes.take(), pipes.take()])
  if (out && err) return [out, err]
  for (const pipe of [out, err]) if (pipe) closePipe(pipe)
  return null
}

async function launch(
  { argv, env }: Ready,
  spec: CommandSpec,
  ends: [Pipe, Pipe] | null,
  output: CommandOutput,
): Promise<{ ok: true; child: ChildProcess; group: number } | Failed> {
  const { file, args } = leashed(argv)
  let child: ChildProcess | null = null
  try {
    child = spawn(file, args, {
      cwd: spec.cwd,
      env,
      // A session and a process group of its own, both named by its pid.
      detached: true,
      stdio: [
        spec.stdin === undefined ? 'ignore' : 'pipe',
        ends?.[0].write ?? 'pipe',
        ends?.[1].write ?? 'pipe',
        'pipe',
      ],
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child?.once('error', resolve))
  } catch (error) {
    if (ends) for (const pipe of ends) closeSync(pipe.read)
    for (const stream of child?.stdio ?? []) stream?.destroy()
    return { ok: false, message: `it could not be started: ${(error as Error).message}` }
  } finally {
    if (ends) for (const pipe of ends) closeSync(pipe.write)
  }
  if (ends) {
    output.follow(readPipe(ends[0].read, output.onStdout))
    output.follow(readPipe(ends[1].read, output.onStderr))
  } else {
    if (child.stdout) output.follow(child.stdout.on('data', output.onStdout))
    if (child.stderr) output.follow(child.stderr.on('data', output.onStderr))
  }
  // A command that does not read what it is given is no error of ours.
  for (const stream of child.stdio) stream?.on('error', () => {})
  child.stdin?.end(spec.stdin)
  return { ok: true, child, group: child.pid }
}

function start(child: ChildProcess): void {
  const pipe = child.stdio[START_FD]
  if (pipe && 'end' in pipe) pipe.end('\n')
}

/** Waits for the command's own end, and brings it about when the time is up or nobody wants it any more. */
function settle(
  child: ChildProcess,
  group: number,
  { timeout_ms, signal }: CommandSpec,
): Promise<{ ending: Ending | null; stopped: Stopped | null }> {
  return new Promise((resolve) => {
    let stopped: Stopped | null = null
    let timer: NodeJS.Timeout
    const stop = (reason: Stopped) => {
      stopped = reason
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      signalGroup(group, 'SIGTERM')
      timer = setTimeout(() => {
        signalGroup(group, 'SIGKILL')
        timer = setTimeout(() => done(null), GIVE_UP_MS)
      }, GRACE_MS)
    }
    const onAbort = () => stop('aborted')
    const done = (ending: Ending | null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve({ ending, stopped })
    }
    timer = setTimeout(() => stop('timeout'), Math.min(Math.max(timeout_ms, 0), LONGEST_TIMER_MS))
    signal?.addEventListener('abort', onAbort)
    child.once('exit', (code, signalName) => done({ code, signal: signalName }))
    // After it has started, an error only says that a signal could not be sent.
    child.on('error', () => {})
  })
}
