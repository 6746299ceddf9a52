import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { type Ended, ended, start } from './cli.js'
import type { WhenFinished } from './project.js'

/** A line of `retinue worker --json`. */
export type Told = { type: string; at: number; text: string } & Record<string, unknown>

export type WorkerProcess = {
  id: string
  pid: number
  /** All that it has told so far. */
  told: Told[]
  /** Resolves with the first line of this type, before or after now. */
  until(type: string): Promise<Told>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

type Options = { args?: string[]; env?: Record<string, string>; finished?: WhenFinished }

/** The real program, working in a process of its own; it has started. */
export async function workerProcess(
  cwd: string,
  store: string,
  { args = [], env = {}, finished = onTestFinished }: Options = {},
): Promise<WorkerProcess> {
  const child = start(['worker', '--json', ...args], { cwd, env: { RETINUE_STORE: store, ...env } })
  const end = ended(child)
  finished(async () => {
    child.kill('SIGKILL')
    await end
  })
  const told: Told[] = []
  const lines = createInterface(child.stdout)
  lines.on('line', (text) => told.push(JSON.parse(text) as Told))
  const until = async (type: string): Promise<Told> => {
    for (;;) {
      const known = told.find((one) => one.type === type)
      if (known) return known
      const gone = await Promise.race([once(lines, 'line').then(() => null), end])
      const last = told.find((one) => one.type === type)
      if (gone && !last) throw new Error(`it ended before it was ${type}: ${gone.stderr}${gone.stdout}`)
    }
  }
  const { id } = (await until('started')) as Told & { id: string }
  return { id, pid: child.pid as number, told, until, kill: (signal) => void child.kill(signal), ended: end }
}
