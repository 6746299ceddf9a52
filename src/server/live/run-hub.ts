import type { Retinue, RunStatus, RunSummary } from '../../index.js'
import type { OwnRuns } from '../own-runs.js'
import { runDetail } from '../run-detail.js'
import type { RunDetail } from '../wire.js'
import { type Batch, MOST_EVENTS, Sheets } from './sheets.js'
import { message } from './stream.js'
import { Waiting } from './waiting.js'

/** How often the status of a run is looked at, and how long events are gathered before watchers are told. */
export type HubTimes = { look_ms: number; gather_ms: number }

export const HUB_TIMES: HubTimes = { look_ms: 1000, gather_ms: 25 }

/** What of a run is told when it changes; `version` tells one from the next. */
type Standing = { version: number; text: string; status: RunStatus; owned_here: boolean }

/**
 * One run for all who watch it: one follower of its log, one look at its status. Each watcher has a position of its own
 * and asks for what comes after it, so that it misses nothing and gets nothing twice, whenever it came.
 */
export class RunHub {
  readonly #sheets = new Sheets()
  readonly #waiting = new Waiting()
  readonly #stop = new AbortController()
  readonly #looks: NodeJS.Timeout
  /** Up to here the follower has read, and up to here the watchers know of it. */
  #read: number
  #told: number
  #end: 'none' | 'closed' | 'lost'
  #standing: Standing | null = null
  #looking: Promise<void> | null = null
  #telling: NodeJS.Timeout | undefined

  constructor(
    private readonly parts: { retinue: Retinue; own: OwnRuns },
    private readonly run: RunSummary,
    private readonly times: HubTimes,
  ) {
    this.#read = run.last_position
    this.#told = run.last_position
    this.#end = run.status === 'closed' ? 'closed' : 'none'
    this.#looks = setInterval(() => this.#look().catch(() => {}), times.look_ms)
    if (this.#end === 'none') void this.#follow()
  }

  get lost(): boolean {
    return this.#end === 'lost'
  }

  close(): void {
    this.#stop.abort()
    clearInterval(this.#looks)
    clearTimeout(this.#telling)
  }

  /** The messages of one watcher, who has seen everything up to a position. */
  async *watch(after: number, signal: AbortSignal): AsyncGenerator<string, void> {
    let position = after
    if (this.#standing === null) await this.#look()
    let seen = (this.#standing as Standing | null)?.version
    // Anew for each: since it was told to others, more was done and spent.
    yield message('run', JSON.stringify(await this.#detail()))
    while (!signal.aborted) {
      const { version, text } = this.#standing as Standing
      if (version !== seen) {
        seen = version
        yield text
        continue
      }
      const batch = await this.#after(position)
      if (batch) {
        position = batch.last
        yield message('events', batch.json, batch.last)
        continue
      }
      if (this.#end === 'lost') return
      if (this.#end === 'closed' && position >= this.#told) break
      if (position >= this.#told && seen === this.#standing?.version) await this.#waiting.next(signal)
    }
    if (signal.aborted) return
    if (this.#standing?.status !== 'closed') await this.#lookAgain()
    const { version, text } = this.#standing as Standing
    if (version !== seen) yield text
    yield message('end', '{}')
  }

  async #after(position: number): Promise<Batch | null> {
    if (position >= this.#told) return null
    const kept = this.#sheets.after(position)
    if (kept) return kept
    const { run_id } = this.run
    const events = await this.parts.retinue.store.read({ run_id, after: position, limit: MOST_EVENTS })
    const read = this.#sheets.from(position, events)
    if (!read) throw new Error(`the log of run ${run_id} has no event ${position + 1}`)
    return read
  }

  async #follow(): Promise<void> {
    const { run_id } = this.run
    const { signal } = this.#stop
    let end: 'closed' | 'lost' = 'lost'
    try {
      for await (const event of this.parts.retinue.store.follow({ run_id, after: this.#read, signal })) {
        this.#sheets.add(event)
        this.#read = event.position
        if (event.type === 'run.closed') end = 'closed'
        this.#telling ??= setTimeout(() => this.#tell(), this.times.gather_ms)
      }
    } catch {
      // Whoever watches is let go and comes again: then the store says what is wrong.
    }
    if (signal.aborted) return
    this.#end = end
    this.#tell()
  }

  #tell(): void {
    clearTimeout(this.#telling)
    this.#telling = undefined
    this.#told = this.#read
    this.#waiting.wake()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#stand().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** One that began after now. */
  async #lookAgain(): Promise<void> {
    await this.#looking?.catch(() => {})
    await this.#look()
  }

  async #stand(): Promise<void> {
    const detail = await this.#detail()
    const { status } = detail.run
    const { version, ...known } = this.#standing ?? { version: 0 }
    if ('status' in known && known.status === status && known.owned_here === detail.owned_here) return
    const text = message('run', JSON.stringify(detail))
    this.#standing = { version: version + 1, text, status, owned_here: detail.owned_here }
    this.#waiting.wake()
  }

  #detail(): Promise<RunDetail> {
    return runDetail(this.parts.retinue, this.parts.own, this.run.run_id)
  }
}
