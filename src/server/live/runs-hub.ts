import { listedRun, type Retinue } from '../../index.js'
import { message } from './stream.js'
import { Waiting } from './waiting.js'

/** So many of the newest runs are watched; older ones can be asked for. */
const MOST_RUNS = 200

/** `version`: of the list, when it last changed. */
type Entry = { version: number; json: string }

/** The list of runs for all who watch it: one look at it for all, while anybody does. */
export class RunsHub {
  readonly #waiting = new Waiting()
  readonly #looks: NodeJS.Timeout
  #entries = new Map<string, Entry>()
  #version = 0
  #looking: Promise<void> | null = null

  constructor(
    private readonly retinue: Retinue,
    look_ms: number,
  ) {
    this.#looks = setInterval(() => this.#look().catch(() => {}), look_ms)
  }

  close(): void {
    clearInterval(this.#looks)
  }

  /** First all of them, then those that are new or have changed. */
  async *watch(signal: AbortSignal): AsyncGenerator<string, void> {
    await this.#look()
    for (let seen = -1; !signal.aborted; ) {
      if (seen !== this.#version) {
        const changed = [...this.#entries.values()].filter(({ version }) => version > seen)
        seen = this.#version
        yield message('runs', `[${changed.map(({ json }) => json).join(',')}]`)
      } else await this.#waiting.next(signal)
    }
  }

  #look(): Promise<void> {
    this.#looking ??= this.#compare().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #compare(): Promise<void> {
    const version = this.#version + 1
    const entries = new Map<string, Entry>()
    for (const run of await this.retinue.runs({ limit: MOST_RUNS })) {
      const known = this.#entries.get(run.run_id)
      const json = JSON.stringify(await listedRun(this.retinue, run))
      entries.set(run.run_id, known?.json === json ? known : { version, json })
    }
    const has_new = [...entries.values()].some((entry) => entry.version === version)
    this.#entries = entries
    if (!has_new) return
    this.#version = version
    this.#waiting.wake()
  }
}
