import { type Doing, doingKind, doingOf } from './doing.js'
import type { StoredEvent } from './events.js'
import type { RunTree, TreeAgent } from './tree.js'

/** What an agent did for a while; `to` is null where it still does. `gone`: the process that worked on it was. */
export type Span = { kind: Doing['kind'] | 'gone'; from: number; to: number | null }

/** Of every agent, what it did one after the other. Only `growSpans` changes it. */
export type Spans = Map<string, Span[]>

export function emptySpans(): Spans {
  return new Map()
}

/** The spans after one more event, of the tree that has grown by it already. */
export function growSpans(spans: Spans, tree: RunTree, event: StoredEvent): Spans {
  // What others do depends on events of their own: even who waits for a sub-agent is told by one that it is closed.
  look(spans, tree.agents.get(event.agent_id), event)
  const about = 'sub_agent_id' in event.data ? event.data.sub_agent_id : null
  if (about !== null && about !== event.agent_id) look(spans, tree.agents.get(about), event)
  return spans
}

function look(spans: Spans, agent: TreeAgent | undefined, event: StoredEvent): void {
  if (!agent) return
  const list = spans.get(agent.id) ?? []
  if (list.length === 0) spans.set(agent.id, list)
  if (event.type === 'agent.resumed' && event.agent_id === agent.id && agent.gone !== null) {
    turnTo(list, 'gone', agent.gone.from)
  }
  turnTo(list, doingKind(agent), event.at)
}

/** From then on it does this. Clocks are set back at times: nothing begins before what was before it. */
function turnTo(list: Span[], kind: Span['kind'], at: number): void {
  const last = list.at(-1)
  if (last?.to === null) {
    if (last.kind === kind) return
    last.to = Math.max(last.from, at)
    if (last.to === last.from) list.pop()
  }
  if (kind === 'ended') return
  const before = list.at(-1)
  const from = Math.max(last?.to ?? at, at)
  // What lasted no time at all does not part what was before it from what is after it.
  if (before?.kind === kind && before.to === from) before.to = null
  else list.push({ kind, from, to: null })
}

/** A stretch of the run's time and the one agent that it depended on then. */
export type Stretch = { agent_id: string; from: number; to: number }

/** Whose work the run's end waited for, from its root's start to its end (or until now): without gaps, in order. */
export function criticalPath(tree: RunTree, now: number): Stretch[] {
  const { root } = tree
  if (!root) return []
  const backwards: Stretch[] = []
  walkBack(root, root.created_at, root.closed_at ?? now, backwards)
  return backwards.reverse()
}

/** The last sub-agent that was waited for has all the time since it was created, and before that the one before it. */
function walkBack(agent: TreeAgent, from: number, to: number, path: Stretch[]): void {
  let end = to
  const own = (since: number) => {
    if (since < end) path.push({ agent_id: agent.id, from: since, to: end })
  }
  for (const { child, closed } of waitedFor(agent, to)) {
    const created = Math.max(child.created_at, from)
    if (closed > end || closed <= created) continue
    own(closed)
    walkBack(child, created, closed, path)
    end = created
  }
  own(from)
}

/** Sub-agents that kept an agent waiting, those first that did so last. One that still does would be closed now. */
function waitedFor(agent: TreeAgent, now: number): { child: TreeAgent; closed: number }[] {
  const closed = agent.children.flatMap((child) =>
    child.awaited && child.closed_at !== null ? [{ child, closed: child.closed_at }] : [],
  )
  const doing = agent.closed_at === null ? doingOf(agent) : null
  const [first] = doing?.kind === 'waiting_for_agents' ? doing.ids : []
  const open = agent.children.find(({ id }) => id === first)
  return [...closed, ...(open ? [{ child: open, closed: now }] : [])].sort(
    (a, b) => b.closed - a.closed || a.child.created_at - b.child.created_at,
  )
}
