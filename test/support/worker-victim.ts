import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import {
  createRetinue,
  type Retinue,
  type RetinueOptions,
  type Settings,
  type StoredEvent,
  type WorkerNews,
} from '../../src/index.js'
import type { WhenFinished } from './project.js'

const VICTIM = fileURLToPath(new URL('./worker-victim.mjs', import.meta.url))

export type WorkerKill = { when: 'before' | 'after'; signal?: 'SIGSTOP' } & (
  | { position: number }
  | { type: string; agent_id: string }
)

export type WorkerOrder = {
  cwd: string
  store: string
  settings: Settings
  concurrency?: number
  labels?: string[]
  at_once?: number
  per_run?: number
  machine?: string
  providers?: Record<string, { type: 'openai-compatible'; base_url: string }>
  kill?: WorkerKill
}

/** An append that the store did not take. */
type Refused = { type: 'refused'; code: string; agent_id: string; epoch: number }

type Line = StoredEvent | Refused | { type: 'begun'; id: string } | { type: 'said'; what: WorkerNews }

/** A worker in a process of its own, to which anything may happen. */
export class WorkerVictim {
  readonly acknowledged: StoredEvent[] = []
  readonly refused: Refused[] = []
  readonly said: WorkerNews[] = []
  /** When it was over, and how. */
  readonly ended: Promise<{ at: number; signal: string | null; code: number | null }>
  readonly #child: ChildProcess
  readonly #begun: Promise<void>
  readonly #lines: Interface
  #errors = ''

  /** It loads its modules, and waits. */
  constructor(order: WorkerOrder, finished: WhenFinished = onTestFinished) {
    const { concurrency = 8, machine = null, providers = {}, kill = null, ...rest } = order
    const whole = JSON.stringify({ ...rest, concurrency, machine, providers, kill })
    const child = spawn(process.execPath, [VICTIM, whole], { stdio: 'pipe' })
    this.#child = child
    this.ended = new Promise((resolve) =>
      child.once('close', (code, signal) => resolve({ at: Date.now(), signal, code })),
    )
    child.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk
    })
    // One that is gone hears nothing.
    child.stdin.on('error', () => {})
    this.#lines = createInterface({ input: child.stdout })
    const begun = new Promise<void>((resolve) => {
      this.#lines.on('line', (line) => {
        // DBOS says something too when it makes its tables.
        if (line.startsWith('{') && this.#hear(JSON.parse(line)) === 'begun') resolve()
      })
    })
    this.#begun = Promise.race([begun, this.ended.then(() => this.#failed())])
    this.#begun.catch(() => {})
    finished(() => this.kill())
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Takes agents from here on. */
  begin(): Promise<void> {
    this.#child.stdin?.write('\n')
    return this.#begun
  }

  /** Takes nothing more, and lets go of what it has. */
  async stop(): Promise<void> {
    this.#child.stdin?.end()
    const { code } = await this.ended
    if (code !== 0) this.#failed()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }

  /** Resolves when it has said something of this kind, before or after now. */
  heard(kind: string): Promise<void> {
    return this.#until(() => this.said.some((said) => said.kind === kind))
  }

  /** The same for an event of an agent that it appended. */
  appended(type: string, agent_id: string): Promise<void> {
    return this.#until(() => this.acknowledged.some((event) => event.type === type && event.agent_id === agent_id))
  }

  async #until(is: () => boolean): Promise<void> {
    while (!is()) {
      await Promise.race([once(this.#lines, 'line'), this.ended.then(() => this.#failed())])
    }
  }

  #hear(line: Line): string {
    if (line.type === 'said') this.said.push(line.what)
    else if (line.type === 'refused') this.refused.push(line)
    else if (line.type !== 'begun') this.acknowledged.push(line)
    return line.type
  }

  #failed(): never {
    throw new Error(`The worker ended: ${this.#errors}`)
  }
}

/** Workers that have begun. */
export async function startWorkers(
  count: number,
  order: WorkerOrder,
  finished?: WhenFinished,
): Promise<WorkerVictim[]> {
  const workers = Array.from({ length: count }, () => new WorkerVictim(order, finished))
  for (const worker of workers) await worker.begin()
  return workers
}

/** Whoever gives runs to the workers. */
export async function openFace(
  { cwd, store, settings, host }: Pick<WorkerOrder, 'cwd' | 'store' | 'settings'> & Pick<RetinueOptions, 'host'>,
  finished: WhenFinished = onTestFinished,
): Promise<Retinue> {
  const face = await createRetinue({ cwd, store, engine: 'dbos', settings, ...(host ? { host } : {}) })
  finished(() => face.close())
  return face
}
