import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('./chaos-worker.mjs', import.meta.url))

export type WorkerOrder = { cwd: string; store: string; settings: object; concurrency: number; ledger: string }

/** Worker processes, of which any may be killed at any time. */
export class ChaosWorkers {
  readonly #alive: ChildProcess[] = []
  killed = 0

  constructor(private readonly order: WorkerOrder) {}

  get pids(): number[] {
    return this.#alive.flatMap(({ pid }) => pid ?? [])
  }

  /** Answers when it takes work, or is dead. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(this.order)], { stdio: 'pipe' })
    this.#alive.push(child)
    // What they say is for whoever looks for a cause.
    child.stderr.on('data', (said: Buffer) => appendFileSync(join(this.order.ledger, 'workers.log'), said))
    // A pipe of one that was killed.
    child.stdin.on('error', () => {})
    child.once('exit', (code, signal) => {
      const at = this.#alive.indexOf(child)
      if (at >= 0) this.#alive.splice(at, 1)
      if (signal !== 'SIGKILL') appendFileSync(join(this.order.ledger, 'workers.log'), `${child.pid} ended with ${code ?? signal}\n`)
    })
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  }

  /** The one that has been there for longest. */
  async killOne(): Promise<void> {
    const [oldest] = this.#alive
    if (!oldest) return
    this.killed += 1
    const gone = once(oldest, 'exit')
    oldest.kill('SIGKILL')
    await gone
  }

  /** Ends them all, politely. */
  async stop(): Promise<void> {
    await Promise.all(
      [...this.#alive].map(async (child) => {
        const gone = once(child, 'exit')
        child.kill('SIGTERM')
        await gone
      }),
    )
  }
}
