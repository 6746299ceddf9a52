import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, statSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { LONGEST_TIMER_MS } from './clock.js'
import { CommandOutput } from './command-output.js'
import { commandEnvironment } from './environment.js'
import { endGroup, signalGroup } from './group.js'
import type { CommandResult, CommandSpec, Fence, Processes } from './host.js'
import { inheritedDescriptors } from './inherited.js'
import { argvOf, FILTER_FD, fenced, findProgram, type Launch, leashed, START_FD } from './launch.js'
import { Leash } from './leash.js'
import { closePipe, type Pipe, Pipes, readPipe } from './pipes.js'
import { OwnPrograms } from './programs.js'
import { Fences, type Raised } from './sandbox/fences.js'
import { fenceStands, notStanding } from './sandbox/handshake.js'

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
type Shared = { pipes: Pipes; leash: Leash; fences: Fences; inherited: readonly number[] }
/** The group that was started, and inside a fence also the one that the command itself is in. */
type Groups = { outer: number; inner: number | null }

/** What commands share is kept ready between them, but not for ever: a host that nobody uses holds nothing. */
const IDLE_MS = 10_000

type Options = { idle_ms?: number; programs?: OwnPrograms }

export function createProcesses({ idle_ms = IDLE_MS, programs = new OwnPrograms() }: Options = {}): Processes {
  const shared: Shared = {
    pipes: new Pipes(programs),
    leash: new Leash(),
    fences: new Fences(programs),
    inherited: inheritedDescriptors(),
  }
  let running = 0
  let idle: NodeJS.Timeout | undefined
  return {
    async run(spec) {
      running++
      clearTimeout(idle)
      try {
        return await runOne(spec, shared)
      } finally {
        if (--running === 0) {
          idle = setTimeout(() => {
            shared.leash.rest()
            shared.pipes.closeSpare()
          }, idle_ms).unref()
        }
      }
    },
  }
}

/** How a command ended, and what it said. */
type Outcome = { status: CommandResult['status']; ending?: Ending | null; message?: string; output?: CommandOutput }

async function runOne(spec: CommandSpec, shared: Shared): Promise<CommandResult> {
  const started = performance.now()
  const ready = prepare(spec)
  const { status, ending, message, output } = !ready.ok
    ? failed(ready.message)
    : spec.fence
      ? await runFenced(spec.fence, ready, spec, shared)
      : await runOnce({ ...leashed(ready.argv), env: ready.env }, null, spec, shared)
  return {
    status,
    exit_code: ending?.code ?? null,
    signal: ending?.signal ?? null,
    ...(output ?? new CommandOutput(0, undefined)).read(),
    duration_ms: Math.round(performance.now() - started),
    message: message ?? null,
  }
}

/** How often a fence is put up anew when others change the files while that is done. */
const MAX_TRIES = 5

async function runFenced(fence: Fence, ready: Ready, spec: CommandSpec, shared: Shared): Promise<Outcome> {
  // The time that the fence takes is part of the command's.
  const end = performance.now() + spec.timeout_ms
  const late = AbortSignal.timeout(asTimer(spec.timeout_ms))
  const stop = spec.signal ? AbortSignal.any([late, spec.signal]) : late
  for (let tries = 1; ; tries++) {
    const raised = await shared.fences
      .raise(fence, { cwd: spec.cwd, env: ready.env, signal: stop })
      .catch((error: Error) => failed(error.message))
    if (!('ok' in raised)) return raised
    if (!raised.ok) {
      return raised.stopped ? { status: spec.signal?.aborted ? 'aborted' : 'timeout' } : failed(raised.message)
    }
    try {
      const left = { ...spec, timeout_ms: end - performance.now() }
      const outcome = await runOnce({ ...fenced(ready.argv, raised), env: raised.env }, raised, left, shared)
      if (!('again' in outcome)) return outcome
      if (tries >= MAX_TRIES) return failed(outcome.message ?? '')
      if (outcome.again === 'broken') shared.fences.forget()
    } finally {
      raised.release()
    }
  }
}

/** `again`: the fence did not stand, so the command was not started, and it may be tried once more. */
async function runOnce(
  ready: Launch & { env: Record<string, string> },
  fence: Raised | null,
  spec: CommandSpec,
  { pipes, leash, inherited }: Shared,
): Promise<Outcome | (Outcome & { again: 'broken' | 'changed' })> {
  let isStarted = fence === null
  // Before the command starts, only the fence has something to say.
  const output = new CommandOutput(spec.max_output_bytes, (chunk) => isStarted && spec.onOutput?.(chunk))
  const ends = await takeBoth(pipes)
  if (spec.signal?.aborted) {
    if (ends) for (const pipe of ends) closePipe(pipe)
    return { status: 'aborted' }
  }
  const launched = await launch(ready, { fence, inherited }, spec, ends, output)
  if (!launched.ok) return failed(launched.message)

  const { child } = launched
  const groups: Groups = { outer: launched.group, inner: null }
  const settled = settle(child, groups, spec)
  const held = await leash.hold(groups.outer)
  if (fence && held) tell(child, START_FD, '\n')
  const stands = async () => (fence ? fenceStands(child, fence, groups) : true)
  const standing = held ? await Promise.race([stands(), settled.then(() => null)]) : null
  isStarted = standing === true
  if (isStarted) endPipe(child, START_FD, '\n')
  else signalAll(groups, 'SIGKILL')
  const { ending, stopped } = await settled
  await endGroup(groups.outer)
  // What is inside a fence ends with its first process, wherever it has gone; that one is in this group.
  if (groups.inner !== null) await endGroup(groups.inner)
  leash.release(groups.outer)
  await output.drain(DRAIN_MS)
  for (const stream of child.stdio) stream?.destroy()
  if (!held) return failed('it could not be started so that it ends when Retinue does')
  if (stopped) return { status: stopped, ending, ...(isStarted && { output }) }
  if (!isStarted) return notStanding(standing === null ? output.read().output : standing)
  return { status: ending?.signal ? 'signalled' : 'exited', ending, output }
}

function failed(message: string): Outcome {
  return { status: 'failed', message }
}

function prepare(spec: CommandSpec): ({ ok: true } & Ready) | Failed {
  const env = commandEnvironment(spec.env)
  if (!isFolder(spec.cwd)) return { ok: false, message: `${spec.cwd} is not a folder to run a command in` }
  const [name = '', ...args] = argvOf(spec)
  const program = findProgram(name, { cwd: spec.cwd, path: env.PATH ?? '' })
  if (program === null) return { ok: false, message: `${JSON.stringify(name)} is not a program on this machine` }
  return { ok: true, argv: [program, ...args], env }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

async function takeBoth(pipes: Pipes): Promise<[Pipe, Pipe] | null> {
  const [out, err] = await Promise.all([pipes.take(), pipes.take()])
  if (out && err) return [out, err]
  for (const pipe of [out, err]) if (pipe) closePipe(pipe)
  return null
}

async function launch(
  { file, args, env }: Launch & { env: Record<string, string> },
  { fence, inherited }: { fence: Raised | null; inherited: readonly number[] },
  spec: CommandSpec,
  ends: [Pipe, Pipe] | null,
  output: CommandOutput,
): Promise<{ ok: true; child: ChildProcess; group: number } | Failed> {
  let child: ChildProcess | null = null
  let nowhere: number | null = null
  try {
    const stdio: StdioOptions = [
      // Nothing to read is the same from nowhere, without a pipe to be made for it.
      spec.stdin ? 'pipe' : 'ignore',
      ends?.[0].write ?? 'pipe',
      ends?.[1].write ?? 'pipe',
      'pipe',
      ...(fence ? (['pipe', 'pipe'] as const) : []),
    ]
    for (const fd of inherited) {
      if (fd < stdio.length) continue
      while (stdio.length < fd) stdio.push('ignore')
      nowhere ??= openSync('/dev/null', 'r')
      stdio[fd] = nowhere
    }
    child = spawn(file, args, {
      cwd: spec.cwd,
      env,
      // A session and a process group of its own, both named by its pid.
      detached: true,
      stdio,
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child?.once('error', resolve))
  } catch (error) {
    if (ends) for (const pipe of ends) closeSync(pipe.read)
    for (const stream of child?.stdio ?? []) stream?.destroy()
    return { ok: false, message: `it could not be started: ${(error as Error).message}` }
  } finally {
    if (nowhere !== null) closeSync(nowhere)
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
  if (fence) endPipe(child, FILTER_FD, fence.filter ?? '')
  return { ok: true, child, group: child.pid }
}

function tell(child: ChildProcess, fd: number, words: string): void {
  const pipe = child.stdio[fd as 3]
  if (pipe && 'write' in pipe) pipe.write(words)
}

function endPipe(child: ChildProcess, fd: number, last: string | Buffer): void {
  const pipe = child.stdio[fd as 3]
  if (pipe && 'end' in pipe) pipe.end(last)
}

function signalAll({ outer, inner }: Groups, signal: NodeJS.Signals): void {
  signalGroup(outer, signal)
  if (inner !== null) signalGroup(inner, signal)
}

function asTimer(ms: number): number {
  return Math.floor(Math.min(Math.max(ms, 0), LONGEST_TIMER_MS))
}

/** Waits for the command's own end, and brings it about when the time is up or nobody wants it any more. */
function settle(
  child: ChildProcess,
  groups: Groups,
  { timeout_ms, signal }: CommandSpec,
): Promise<{ ending: Ending | null; stopped: Stopped | null }> {
  return new Promise((resolve) => {
    let stopped: Stopped | null = null
    let timer: NodeJS.Timeout
    const stop = (reason: Stopped) => {
      stopped = reason
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      // The fence itself must not be asked: it would end at once, and with it everything inside.
      signalGroup(groups.inner ?? groups.outer, 'SIGTERM')
      timer = setTimeout(() => {
        signalAll(groups, 'SIGKILL')
        timer = setTimeout(() => done(null), GIVE_UP_MS)
      }, GRACE_MS)
    }
    const onAbort = () => stop('aborted')
    const done = (ending: Ending | null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve({ ending, stopped })
    }
    timer = setTimeout(() => stop('timeout'), asTimer(timeout_ms))
    signal?.addEventListener('abort', onAbort)
    child.once('exit', (code, signalName) => done({ code, signal: signalName }))
    // After it has started, an error only says that a signal could not be sent.
    child.on('error', () => {})
  })
}
