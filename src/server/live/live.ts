import { type Retinue, RetinueError } from '../../index.js'
import type { OwnRuns } from '../own-runs.js'
import { Refusal } from '../refusal.js'
import { findRun } from '../run-detail.js'
import { Places } from './places.js'
import { HUB_TIMES, type HubTimes, RunHub } from './run-hub.js'
import { RunsHub } from './runs-hub.js'
import { type EventStream, eventStream, STREAM_TIMES, type StreamTimes } from './stream.js'

/** Whoever watches. `who`: principal and address, for what one may have at once. `signal`: they are gone. */
export type Watcher = { who: string; signal: AbortSignal }

/** After which position; `again`: the stream broke off there and is taken up again. */
export type From = { after: number; again: boolean }

/** Streams of what happens, for any number of watchers: one follower a run, one look at the list of runs for all. */
export interface Live {
  /** The events of a run after a position, as server-sent events. */
  run(run_id: string, from: From, watcher: Watcher): Promise<Response>
  /** The list of runs as it changes. */
  runs(watcher: Watcher): Promise<Response>
  /** Of now, for the metrics. */
  readonly connections: number
  close(): void
}

export type LiveTimes = StreamTimes & HubTimes

/** When somebody for whom there is no room may try again. */
const RETRY_AFTER_S = 10

export function createLive(retinue: Retinue, own: OwnRuns, times: Partial<LiveTimes> = {}): Live {
  return new LocalLive({ retinue, own }, { ...STREAM_TIMES, ...HUB_TIMES, ...times })
}

/** `lost`: it sends nothing any more, and whoever comes now gets another. */
type Hub = { close(): void; readonly lost?: boolean }

/** A hub and how many watch by it: it is there as long as anybody does. */
type Shared<H extends Hub> = { hub: H; watchers: number }

class LocalLive implements Live {
  readonly #places = new Places()
  readonly #runs = new Map<string, Shared<RunHub>>()
  readonly #lists = new Map<'list', Shared<RunsHub>>()
  readonly #streams = new Set<EventStream>()
  #closed = false

  constructor(
    private readonly parts: { retinue: Retinue; own: OwnRuns },
    private readonly times: LiveTimes,
  ) {}

  get connections(): number {
    return this.#places.taken
  }

  async run(run_id: string, { after, again }: From, watcher: Watcher): Promise<Response> {
    const run = await findRun(this.parts.retinue, run_id)
    if (after > run.last_position) {
      throw new RetinueError(
        'input',
        `Run ${run_id} has ${run.last_position} events so far: there is nothing at ${after}`,
      )
    }
    // A browser that is told this does not ask again.
    if (again && run.status === 'closed' && after === run.last_position) return new Response(null, { status: 204 })
    return this.#open(
      watcher,
      shared(this.#runs, run_id, () => new RunHub(this.parts, run, this.times)),
      (hub, signal) => hub.watch(after, signal),
    )
  }

  async runs(watcher: Watcher): Promise<Response> {
    return this.#open(
      watcher,
      shared(this.#lists, 'list', () => new RunsHub(this.parts.retinue, this.times.look_ms)),
      (hub, signal) => hub.watch(signal),
    )
  }

  close(): void {
    this.#closed = true
    for (const stream of [...this.#streams]) stream.close()
  }

  #open<H extends Hub>(
    { who, signal }: Watcher,
    sharing: Sharing<H>,
    watch: (hub: H, signal: AbortSignal) => AsyncGenerator<string, void>,
  ): Response {
    if (this.#closed) throw busy('The server is being ended.')
    const place = this.#places.take(who)
    if (!place.ok) throw busy(place.message)
    const left = new AbortController()
    const hub = sharing.join()
    const stream = eventStream(watch(hub, left.signal), this.times, () => {
      left.abort()
      sharing.leave()
      place.give_back()
      this.#streams.delete(stream)
      signal.removeEventListener('abort', stream.close)
    })
    this.#streams.add(stream)
    signal.addEventListener('abort', stream.close, { once: true })
    if (signal.aborted) stream.close()
    return stream.response
  }
}

type Sharing<H extends Hub> = { join: () => H; leave: () => void }

function shared<K, H extends Hub>(hubs: Map<K, Shared<H>>, key: K, make: () => H): Sharing<H> {
  let joined: Shared<H> | null = null
  return {
    join: () => {
      const known = hubs.get(key)
      joined = known && !known.hub.lost ? known : { hub: make(), watchers: 0 }
      joined.watchers += 1
      hubs.set(key, joined)
      return joined.hub
    },
    leave: () => {
      if (!joined) return
      joined.watchers -= 1
      if (joined.watchers > 0) return
      if (hubs.get(key) === joined) hubs.delete(key)
      joined.hub.close()
    },
  }
}

function busy(message: string): Refusal {
  return new Refusal(503, 'busy', message, { headers: { 'retry-after': String(RETRY_AFTER_S) } })
}
