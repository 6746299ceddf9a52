import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandEnvironment } from './environment.js'
import { endGroup, signalGroup } from './group.js'
import type { Server, ServerSpec, Servers } from './host.js'
import { findProgram, leashed, START_FD } from './launch.js'
import { Leash } from './leash.js'
import { BoundedBytes } from './output.js'
import { closePipe, type Pipe, Pipes, readPipe } from './pipes.js'
import { OwnPrograms } from './programs.js'
import { namedFiles } from './server-files.js'

/** Between asking a server to end and ending it. */
const GRACE_MS = 500
/** How long what a dead server wrote is still read, when a process that left its group keeps the pipe open. */
const DRAIN_MS = 200
/** What is kept of stderr: its beginning and its end. */
const STDERR_BYTES = 16 * 1024

type Ending = { code: number | null; signal: string | null }
type Failed = { ok: false; message: string }

export function createServers(programs = new OwnPrograms()): Servers {
  const pipes = new Pipes(programs)
  const leash = new Leash()
  let running = 0
  const left = () => {
    if (--running > 0) return
    leash.rest()
    pipes.closeSpare()
  }
  return {
    async start(spec) {
      running++
      const started = await startOne(spec, pipes, leash)
      if (!started.ok) left()
      else started.server.ended.then(left)
      return started
    },
    namedFiles,
  }
}

async function startOne(spec: ServerSpec, pipes: Pipes, leash: Leash): Promise<{ ok: true; server: Server } | Failed> {
  const env = commandEnvironment(spec.env)
  const folder = await stat(spec.cwd).catch(() => null)
  if (!folder?.isDirectory()) return { ok: false, message: `${spec.cwd} is not a folder to run a server in` }
  const [name = '', ...args] = spec.command
  const program = findProgram(name, { cwd: spec.cwd, path: env.PATH ?? '' })
  if (program === null) return { ok: false, message: `${JSON.stringify(name)} is not a program on this machine` }
  const spawned = await spawnLeashed([program, ...args], spec.cwd, env, await takeBoth(pipes))
  if (!spawned.ok) return spawned

  const { child, group, stdout, stderr } = spawned
  const exited = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const said = new BoundedBytes(STDERR_BYTES)
  const err = stderr((chunk) => said.push(chunk))
  const listeners: ((chunk: Uint8Array) => void)[] = []
  const out = stdout((chunk) => {
    for (const listener of listeners) listener(chunk)
  })
  if (!(await leash.hold(group))) {
    await endGroup(group)
    leash.release(group)
    for (const stream of [out, err, ...child.stdio]) stream?.destroy()
    return { ok: false, message: 'it could not be started so that it ends when Retinue does' }
  }
  go(child)
  const refused = new AbortController()
  let isOver = false
  const ended = Promise.race([exited, killed(refused.signal)]).then(async (ending) => {
    isOver = true
    await endGroup(group)
    leash.release(group)
    await Promise.all([drained(out), drained(err)])
    for (const stream of child.stdio) stream?.destroy()
    return ending
  })
  let stopping: Promise<void> | null = null
  return {
    ok: true,
    server: {
      write: (text) => write(child, text),
      onStdout: (listener) => void listeners.push(listener),
      stderr: () => said.read().text,
      ended,
      stop: () => {
        // The number of a group that is gone may be another one's by now.
        stopping ??= (isOver ? Promise.resolve() : ask(child, group, exited)).then(async () => {
          refused.abort()
          await ended
        })
        return stopping
      },
    },
  }
}

/** How a server ends that does not do as it is asked. */
function killed(signal: AbortSignal): Promise<Ending> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ code: null, signal: 'SIGKILL' }), { once: true })
  })
}

/** Asks it to end, and waits for that as long as it is given. What is left then is killed with the rest of its group. */
async function ask(child: ChildProcess, group: number, exited: Promise<Ending>): Promise<void> {
  const late = new AbortController()
  child.stdin?.end()
  signalGroup(group, 'SIGTERM')
  await Promise.race([exited, sleep(GRACE_MS, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
}

function write(child: ChildProcess, text: string): Promise<boolean> {
  const { stdin } = child
  if (!stdin || stdin.destroyed || stdin.writableEnded) return Promise.resolve(false)
  return new Promise((resolve) => stdin.write(text, (error) => resolve(!error)))
}

type Listen = (onChunk: (chunk: Buffer) => void) => Readable
type Spawned = { ok: true; child: ChildProcess; group: number; stdout: Listen; stderr: Listen }

async function spawnLeashed(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string>,
  ends: [Pipe, Pipe] | null,
): Promise<Spawned | Failed> {
  const { file, args } = leashed(argv)
  let child: ChildProcess | null = null
  try {
    child = spawn(file, args, {
      cwd,
      env,
      // A session and a process group of its own, both named by its pid.
      detached: true,
      stdio: ['pipe', ends?.[0].write ?? 'pipe', ends?.[1].write ?? 'pipe', 'pipe'],
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child?.once('error', resolve))
  } catch (error) {
    if (ends) for (const pipe of ends) closeSync(pipe.read)
    for (const stream of child?.stdio ?? []) stream?.destroy()
    return { ok: false, message: `it could not be started: ${(error as Error).message}` }
  } finally {
    if (ends) for (const pipe of ends) closeSync(pipe.write)
  }
  // What goes wrong with a stream shows in what does not come through it.
  for (const stream of child.stdio) stream?.on('error', () => {})
  child.on('error', () => {})
  const { stdout, stderr } = child
  return {
    ok: true,
    child,
    group: child.pid,
    stdout: (onChunk) => (ends ? readPipe(ends[0].read, onChunk) : (stdout as Readable).on('data', onChunk)),
    stderr: (onChunk) => (ends ? readPipe(ends[1].read, onChunk) : (stderr as Readable).on('data', onChunk)),
  }
}

async function takeBoth(pipes: Pipes): Promise<[Pipe, Pipe] | null> {
  const [out, err] = await Promise.all([pipes.take(), pipes.take()])
  if (out && err) return [out, err]
  for (const pipe of [out, err]) if (pipe) closePipe(pipe)
  return null
}

function go(child: ChildProcess): void {
  const pipe = child.stdio[START_FD]
  if (pipe && 'end' in pipe) pipe.end('\n')
}

/** What it wrote last is still on its way when its end is reported. */
async function drained(stream: Readable): Promise<void> {
  if (!stream.closed) {
    const late = new AbortController()
    const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()))
    await Promise.race([closed, sleep(DRAIN_MS, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
  }
  stream.destroy()
}
