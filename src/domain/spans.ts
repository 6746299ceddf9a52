import type { Doing } from './doing.js'
import type { StoredEvent } from './events.js'
import type { RunTree } from './tree.js'

/** What an agent did for a while; `to` is null where it still does. `gone`: the process that worked on it was. */
export type Span = { kind: Doing['kind'] | 'gone'; from: number; to: number | null }

/** Of every agent, what it did one after the other. Only `growSpans` changes it. */
export type Spans = Map<string, Span[]>

export function emptySpans(): Spans {
  return new Map()
}

/** The spans after one more event, of the tree that has grown by it already. */
export function growSpans(spans: Spans, tree: RunTree, event: StoredEvent): Spans {
  throw new Error(`not written yet: ${spans.size} ${tree.position} ${event.position}`)
}

/** A stretch of the run's time and the one agent that it depended on then. */
export type Stretch = { agent_id: string; from: number; to: number }

/** Whose work the run's end waited for, from its beginning to its end (or until now): without gaps, in order. */
export function criticalPath(tree: RunTree, now: number): Stretch[] {
  throw new Error(`not written yet: ${tree.position} ${now}`)
}
