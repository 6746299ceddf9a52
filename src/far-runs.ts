import type { Watching } from './api.js'
import type { Answer, StoredEvent } from './domain/index.js'
import { type Dispatch, deferredIn, pauseIn, pauseInWords, type ResumeSignal, rest } from './engine/index.js'
import { RetinueError } from './errors.js'
import { FarQuestions, type Propose } from './far-questions.js'
import type { Started } from './run-handle.js'
import { ROOT } from './run-reader.js'
import type { Lease, Signal, Store } from './store/index.js'

type Parts = {
  store: Store
  dispatch: Dispatch
  answer: (run_id: string, answer: Answer, by: string) => Promise<void>
  proposal: (run_id: string, ...asked: Parameters<Propose>) => ReturnType<Propose>
}

/** How soon whoever waits for a run sees that it is paused. */
const LOOK_MS = 500

/** Runs that workers carry out, for whoever starts them or waits for them. */
export class FarRuns {
  constructor(private readonly parts: Parts) {}

  /** In this order: whoever is killed in between leaves a run that workers find, or that a person can go on with. */
  async give(lease: Lease): Promise<void> {
    const { run_id, agent_id, epoch } = lease
    await this.parts.dispatch.wake({ run_id, agent_id, why: `given-${epoch}` })
    await rest(this.parts.store, lease)
  }

  /** Whoever rests does not hear what is said to it. */
  async wake({ run_id, kind }: Pick<Signal, 'run_id' | 'kind'>, about: string): Promise<void> {
    await this.parts.dispatch.wake({ run_id, agent_id: about || ROOT, why: kind })
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

  /** Until the run is closed or paused, or the caller leaves it. The person is asked what the run asks. */
  async follow(
    run_id: string,
    { person, onDelta }: Watching,
    started: Started,
    cancel: (by: string, reason: string) => Promise<unknown>,
  ): Promise<void> {
    const left = new AbortController()
    const questions = new FarQuestions({
      person: person ?? null,
      answer: (answer, by) => this.parts.answer(run_id, answer, by),
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
        if (onDelta) showAnswer(event, onDelta)
      }
    } finally {
      clearInterval(look)
      questions.close()
    }
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

  close(): Promise<void> {
    return this.parts.dispatch.close()
  }
}

/** Words do not come from elsewhere as they are written: whoever watches gets those of an answer at once. */
function showAnswer(event: StoredEvent, onDelta: NonNullable<Watching['onDelta']>): void {
  if (event.type !== 'model.responded' || event.data.purpose === 'summary') return
  const { agent_id, data } = event
  for (const part of data.parts) {
    if (part.type === 'tool_call' || part.text === '') continue
    try {
      onDelta({ type: part.type, agent_id, request_id: data.request_id, text: part.text })
    } catch {
      // Theirs to mend: the log has everything.
    }
  }
}
