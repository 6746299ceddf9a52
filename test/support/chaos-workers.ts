import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('./chaos-worker.mjs', import.meta.url))

type WorkerOrder = { cwd: string; store: string; settings: object; concurrency: number; ledger: string }

/** Worker processes, of which any may be killed at any time. */
export class ChaosWorkers {
  readonly #alive = new Set<ChildProcess>()
  readonly #killed = new Set<ChildProcess>()
  #stopping = false
  /** Those that ended without having been killed. */
  ended_alone = 0

  constructor(
    private readonly order: WorkerOrder,
    private readonly size: number,
  ) {}

  get killed(): number {
    return this.#killed.size
  }

  /** Starts as many as are missing. Answers when these take work, or are dead. */
  async fill(): Promise<void> {
    const missing = this.#stopping ? 0 : this.size - this.#alive.size
    await Promise.all(Array.from({ length: Math.max(0, missing) }, () => this.#start()))
  }

  async #start(): Promise<void> {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(this.order)], { stdio: 'pipe' })
    this.#alive.add(child)
    // What they say is for whoever looks for a cause.
    child.stderr.on('data', (said: Buffer) => this.#log(said.toString()))
    // A pipe of one that was killed.
    child.stdin.on('error', () => {})
    child.once('exit', (code, signal) => {
      this.#alive.delete(child)
      if (this.#stopping || this.#killed.has(child)) return
      // As by whatever keeps services running: the database may have been away when it started.
      this.ended_alone += 1
      this.#log(`${child.pid} ended by itself: ${code ?? signal}\n`)
      void this.fill()
    })
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  }

  /** The one that has been there for longest. */
  async killOne(): Promise<void> {
    const [oldest] = this.#alive
    if (!oldest) return
    this.#killed.add(oldest)
    const gone = once(oldest, 'exit')
    oldest.kill('SIGKILL')
    await gone
  }

  /** Ends them all, politely. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(
      [...this.#alive].map(async (child) => {
        const gone = once(child, 'exit')
        child.kill('SIGTERM')
        await gone
      }),
    )
  }

  #log(said: string): void {
    appendFileSync(join(this.order.ledger, 'workers.log'), said)
  }
}
