import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { start } from './cli.js'
import type { WhenFinished } from './project.js'

/** What `retinue serve --json` says first. */
type Said = { url: string; address: string; token: string | null }

export type Served = Said & {
  cwd: string
  child: ChildProcess
  /** Everything that it has written to either of its outputs. */
  output: () => string
  /** As the machine would when it goes dark. */
  kill: () => Promise<void>
  stop: () => Promise<void>
}

type Options = { args?: string[]; env?: Record<string, string>; finished?: WhenFinished }

/** The real program, serving a folder in a process of its own. */
export async function serving(cwd: string, { args = [], env = {}, finished = onTestFinished }: Options = {}) {
  const child = start(['serve', '--json', '--port', '0', ...args], { cwd, env })
  const written: string[] = []
  child.stderr.on('data', (chunk: Buffer) => written.push(chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => written.push(chunk.toString()))
  const gone = once(child, 'close')
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await gone
  }
  finished(() => end('SIGKILL'))
  const first = await Promise.race([once(createInterface(child.stdout), 'line'), gone.then(() => null)])
  if (first === null) throw new Error(`serve ended at once: ${written.join('')}`)
  const said = JSON.parse(String(first[0])) as Said
  const served: Served = {
    ...said,
    ...{ cwd, child, output: () => written.join('') },
    ...{ kill: () => end('SIGKILL'), stop: () => end('SIGTERM') },
  }
  return served
}

/** One server for all tests of a file. `make`: the folder that it serves. */
export function oneServer(make: (finished: WhenFinished) => string | Promise<string>): () => Served {
  const ends: (() => void | Promise<void>)[] = []
  const finished: WhenFinished = (work) => void ends.push(work)
  let served: Served | null = null
  beforeAll(async () => {
    served = await serving(await make(finished), { finished })
  })
  afterAll(async () => {
    for (const work of ends.reverse()) await work()
  })
  return () => served as Served
}

/** A call of its API as a program makes it. */
export async function call<T>(
  { address, token }: Pick<Said, 'address' | 'token'>,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<{ status: number; body: T }> {
  const response = await fetch(`${address}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as T }
}
