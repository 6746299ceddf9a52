import { emptySpans, emptyTree, growSpans, growTree, type WatchedEvent } from '#domain'
import type { RunDetail } from '#wire'
import type { Connection } from '../../api/live'
import { watchForQuestions } from './questions/about-questions'

/**
 * What is known of a run, made of its events as they come. It lives outside of React: ten thousand events are folded one
 * by one, and whoever draws is told at most once a frame.
 */
export class RunStore {
  readonly tree = emptyTree()
  readonly spans = emptySpans()
  readonly events: WatchedEvent[] = []
  detail: RunDetail | null = null
  connection: Connection = 'connecting'
  /** Grows whenever a question may have been asked or answered. */
  questioned = 0
  /** Of each agent, the position of the last event in its stream. */
  readonly last_of = new Map<string, number>()
  #version = 0
  #told = 0
  #waiting = false
  readonly #listeners = new Set<() => void>()
  readonly #isAboutQuestions = watchForQuestions()

  /** `frame`: calls what it is given before the next picture is drawn. */
  constructor(private readonly frame: (then: () => void) => void) {}

  /** Of the last event that is in it. */
  get position(): number {
    return this.tree.position
  }

  get interrupted(): boolean {
    return this.detail?.run.status === 'interrupted'
  }

  /** Whether it has written in a tree of its own, so that there is something to compare the folder with. */
  get has_diff(): boolean {
    return (this.tree.root?.worktree ?? this.detail?.result?.landing ?? null) !== null
  }

  /** Events that are in it already are passed over. False: one is missing before these, and must be asked for again. */
  take(events: readonly WatchedEvent[]): boolean {
    for (const event of events) {
      if (event.position <= this.position) continue
      if (event.position > this.position + 1) return false
      growTree(this.tree, event)
      growSpans(this.spans, this.tree, event)
      this.events.push(event)
      this.last_of.set(event.agent_id, event.position)
      if (this.#isAboutQuestions(event)) this.questioned++
    }
    this.changed()
    return true
  }

  setDetail(detail: RunDetail): void {
    this.detail = detail
    this.changed()
  }

  setConnection(connection: Connection): void {
    this.connection = connection
    this.changed()
  }

  changed(): void {
    this.#version++
    if (this.#waiting) return
    this.#waiting = true
    this.frame(() => {
      this.#waiting = false
      this.#told = this.#version
      for (const listener of this.#listeners) listener()
    })
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What React compares. It is that of the last frame: within one, nobody sees half of what came. */
  readonly version = (): number => this.#told
}
