import type { Answer } from '../../domain/index.js'
import {
  type Dispatch,
  deferredIn,
  pauseIn,
  pauseInWords,
  type ResumeSignal,
  rest,
  type Words,
} from '../../engine/index.js'
import type { Lease, Store } from '../../store/index.js'
import type { Watching } from '../api.js'
import { RetinueError } from '../errors.js'
import type { Started } from '../runs/handle.js'
import { ROOT } from '../runs/reader.js'
import type { Departure, Departures } from './departures.js'
import { FarQuestions, type Propose } from './far-questions.js'
import { FarWords } from './far-words.js'

type Parts = {
  store: Store
  dispatch: Dispatch
  words: Words
  answer: (run_id: string, answer: Answer, by: string, asked_at: number) => Promise<void>
  departures: Departures
  proposal: (run_id: string, ...asked: Parameters<Propose>) => ReturnType<Propose>
}

/** The signal by which workers know that somebody hears what agents of a run say while they say it. */
export const WATCHED = 'watched'

/** How soon whoever waits for a run sees that it is paused. */
const LOOK_MS = 500

/** Runs that workers carry out, for whoever starts them or waits for them. */
export class FarRuns {
  /** Runs that are followed here, and how to leave them. */
  readonly #followed = new Set<AbortController>()
  #closed = false

  constructor(private readonly parts: Parts) {}

  get checkout(): string {
    return this.parts.dispatch.here.checkout
  }

  /** How a run begins its way to the workers. */
  depart(run_id: string, how: { apart: boolean }): Promise<Departure> {
    return this.parts.departures.of(run_id, how)
  }

  /** In this order: whoever is killed in between leaves a run that workers find, or that a person can go on with. */
  async give(lease: Lease): Promise<void> {
    const { run_id, agent_id, epoch } = lease
    await this.parts.dispatch.wake({ run_id, agent_id, why: `given-${epoch}` })
    await rest(this.parts.store, lease)
  }

  /** Before a run is given to the workers: they are told that somebody listens. null: nobody does. */
  async watch(run_id: string, { onDelta }: Watching): Promise<{ words: FarWords; stop: () => void } | null> {
    if (!onDelta) return null
    const { store } = this.parts
    const words = new FarWords(onDelta, (await store.run(run_id))?.last_position ?? 0)
    const stop = await this.parts.words.listen(run_id, (delta) => words.hear(delta))
    await store.signal({ run_id, kind: WATCHED, data: null, by: 'runtime' })
    return { words, stop }
  }

  /** Ends a pause, and has those worked on whose turn came while it lasted. The root agent is for the caller to give. */
  async resume(run_id: string, data: ResumeSignal): Promise<void> {
    const { store, dispatch } = this.parts
    const { id } = await store.signal({ run_id, kind: 'resume', data, by: data.principal ?? 'person' })
    const deferred = deferredIn(await store.signals({ run_id, after: 0 }))
    for (const agent_id of deferred) {
      if (agent_id !== ROOT) await dispatch.wake({ run_id, agent_id, why: `resumed-${id}` })
    }
  }

  /**
   * Until the run is closed or paused, or the caller leaves it. The person is asked what the run asks. Rejects where all is
   * closed here.
   */
  async follow(
    run_id: string,
    { person, watch }: Pick<Watching, 'person'> & { watch: Awaited<ReturnType<FarRuns['watch']>> },
    started: Started,
    cancel: (by: string, reason: string) => Promise<unknown>,
  ): Promise<void> {
    const left = new AbortController()
    this.#followed.add(left)
    const questions = new FarQuestions({
      person: person ?? null,
      answer: (...said) => this.parts.answer(run_id, ...said),
      propose: (question) => this.parts.proposal(run_id, question),
    })
    started({
      cancel: (by, reason) => void cancel(by, reason).catch(() => {}),
      abandon: () => left.abort(),
    })
    let paused: string | null = null
    const look = setInterval(() => {
      const found = this.#paused(run_id).then((why) => {
        paused ??= why
        if (why !== null) left.abort()
      })
      // A store that does not answer is met by whoever follows the log.
      found.catch(() => {})
    }, LOOK_MS)
    try {
      for await (const event of this.parts.store.follow({ run_id, signal: left.signal })) {
        questions.add(event)
        watch?.words.add(event)
      }
      if (!left.signal.aborted) await watch?.words.settled()
    } catch (error) {
      // The store may have been closed before it was noticed.
      if (!this.#closed) throw error
    } finally {
      clearInterval(look)
      questions.close()
      watch?.stop()
      this.#followed.delete(left)
    }
    if (this.#closed) throw new RetinueError('abandoned', `Run ${run_id} is left to the workers`)
    if (paused !== null) throw new RetinueError('abandoned', `Run ${run_id} is left as it is: ${paused}`)
  }

  /** Why nobody works on a run any more before somebody goes on with it; null: somebody does. The log says nothing of it. */
  async #paused(run_id: string): Promise<string | null> {
    const { store } = this.parts
    const lease = await store.lease(run_id, ROOT)
    if (lease?.expires_at !== 0) return null
    const pause = pauseIn(await store.signals({ run_id, after: 0 }))
    return pause && pauseInWords(pause)
  }

  /** Leaves all runs that are followed here. */
  close(): void {
    this.#closed = true
    for (const left of this.#followed) left.abort()
  }
}
