import { leaveToWorkers, type Retinue, RetinueError, type Run } from '../index.js'

/**
 * The runs that this server's process works on: none, where workers do. Whoever answers their questions does so through the log, as for any
 * other run: see `Retinue.answer`.
 */
export class OwnRuns {
  readonly #open = new Map<Run, Promise<void>>()
  #left: string | null = null

  constructor(private readonly retinue: Retinue) {}

  has(run_id: string): boolean {
    return [...this.#open.keys()].some((run) => run.run_id === run_id)
  }

  /** Resolves when it has begun; rejects with what kept it from that. `after`: the position of what it goes on from. */
  async begin(start: (retinue: Retinue) => Run, after = 0): Promise<string> {
    if (this.#left !== null) throw new RetinueError('held', `No run begins here any more: ${this.#left}`)
    const run = start(this.retinue)
    if (this.retinue.engine === 'dbos') {
      await leaveToWorkers(run)
      return run.run_id
    }
    // What becomes of it is in the log, where everybody sees it.
    const ended = run.result().then(
      () => {},
      () => {},
    )
    this.#open.set(
      run,
      ended.finally(() => this.#open.delete(run)),
    )
    const began = new AbortController()
    try {
      await Promise.race([run.result(), this.#firstEvent(run.run_id, after, began.signal)])
    } finally {
      began.abort()
    }
    return run.run_id
  }

  /** Lets go of all of them, to be resumed. Resolves with their ids. */
  async leave(reason: string): Promise<string[]> {
    this.#left = reason
    const open = [...this.#open]
    for (const [run] of open) run.leave(reason)
    const left = await Promise.all(open.map(async ([run, ended]) => ((await isLeft(run)) ? run.run_id : await ended)))
    return left.filter((run_id) => typeof run_id === 'string')
  }

  /** Of the agent that works on it in this process: another may be writing while this one is told that it is held. */
  async #firstEvent(run_id: string, after: number, signal: AbortSignal): Promise<void> {
    for await (const event of this.retinue.store.follow({ run_id, after, signal })) {
      if (event.type === 'run.created' || event.type === 'agent.resumed') return
    }
    // Nothing came of it; its result says why.
    await new Promise(() => {})
  }
}

async function isLeft(run: Run): Promise<boolean> {
  const error = await run.result().then(
    () => null,
    (error: unknown) => error,
  )
  return error instanceof RetinueError && error.code === 'abandoned'
}
