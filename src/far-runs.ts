import type { Watching } from './api.js'
import { type Answer, type Contract, type OpenQuestion, OpenQuestions, questionKey } from './domain/index.js'
import { type Dispatch, rest, type Words } from './engine/index.js'
import { RetinueError } from './errors.js'
import { FarWords } from './far-words.js'
import type { Started } from './run-handle.js'
import { ROOT } from './run-reader.js'
import type { Person } from './runtime/index.js'
import type { Lease, Signal, Store } from './store/index.js'

type Parts = {
  store: Store
  dispatch: Dispatch
  words: Words
  answer: (run_id: string, answer: Answer, by: string) => Promise<void>
}

/** The signal by which workers know that somebody hears what agents of a run say while they say it. */
export const WATCHED = 'watched'

/** Runs that workers carry out, for whoever starts them or waits for them. */
export class FarRuns {
  /** Runs that are followed here, and how to leave them. */
  readonly #followed = new Set<AbortController>()
  #closed = false

  constructor(private readonly parts: Parts) {}

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

  /** Whoever rests does not hear what is said to it. */
  async wake({ run_id, kind }: Pick<Signal, 'run_id' | 'kind'>, about: string): Promise<void> {
    await this.parts.dispatch.wake({ run_id, agent_id: about || ROOT, why: kind })
  }

  /** Until the run is closed, or the caller leaves it. The person is asked what the run asks. Rejects where all is closed here. */
  async follow(
    run_id: string,
    { person, watch }: Pick<Watching, 'person'> & { watch: Awaited<ReturnType<FarRuns['watch']>> },
    started: Started,
    cancel: (by: string, reason: string) => Promise<unknown>,
  ): Promise<void> {
    const left = new AbortController()
    this.#followed.add(left)
    const questions = new FarQuestions(person ?? null, (answer, by) => this.parts.answer(run_id, answer, by))
    started({
      cancel: (by, reason) => void cancel(by, reason).catch(() => {}),
      abandon: () => left.abort(),
    })
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
      questions.close()
      watch?.stop()
      this.#followed.delete(left)
    }
    if (this.#closed) throw new RetinueError('abandoned', `Run ${run_id} is left to the workers`)
  }

  /** Leaves all runs that are followed here. */
  close(): void {
    this.#closed = true
    for (const left of this.#followed) left.abort()
  }
}

/** Puts the questions of a run that is worked on elsewhere to the person who sits here. */
class FarQuestions {
  readonly #open = new OpenQuestions()
  readonly #asked = new Map<string, { question: OpenQuestion; over: AbortController }>()
  /** Agents that may ask nobody: what they would ask for is refused at once, wherever they work. */
  readonly #silent = new Set<string>()

  constructor(
    private readonly person: Person | null,
    private readonly answer: (answer: Answer, by: string) => Promise<void>,
  ) {}

  add(event: Parameters<OpenQuestions['add']>[0]): void {
    if (!this.person) return
    this.#open.add(event)
    if (event.type === 'agent.started') this.#know(event.agent_id, event.data.contract)
    if (event.type === 'agent.subagent_created') this.#know(event.data.sub_agent_id, event.data.contract)
    const open = this.#open.list()
    for (const [key, { question, over }] of this.#asked) {
      if (open.includes(question)) continue
      this.#asked.delete(key)
      over.abort()
    }
    for (const question of open) {
      const key = questionKey(question)
      if (this.#asked.has(key) || (question.kind === 'permission' && this.#silent.has(question.agent_id))) continue
      const over = new AbortController()
      this.#asked.set(key, { question, over })
      void this.#ask(this.person, question, over.signal).catch(() => {})
    }
  }

  #know(agent_id: string, { permissions }: Contract): void {
    if (!permissions.can_ask_person) this.#silent.add(agent_id)
  }

  close(): void {
    for (const { over } of this.#asked.values()) over.abort()
    this.#asked.clear()
  }

  async #ask(person: Person, question: OpenQuestion, signal: AbortSignal): Promise<void> {
    const { agent_id, call_id } = question
    const named = { agent_id, call_id }
    if (question.kind === 'permission') {
      const { tool, summary, reason, detail, grant } = question
      const call = { tool, effect: 'execute' as const, paths: [], commands: [], depth: 0 }
      const given = await person.permit({ ...named, tool, summary, reason, detail, grant, call }, signal)
      if (!given || signal.aborted) return
      const standing = given.grant !== null
      const { answer, note, by } = given
      await this.answer({ ...named, kind: 'permission', answer, ...(standing ? { standing } : {}), note }, by)
    } else if (question.kind === 'question') {
      const text = await person.answer({ call_id, text: question.text, options: question.options }, signal)
      if (!signal.aborted) await this.answer({ ...named, kind: 'question', text }, 'person')
    }
  }
}
