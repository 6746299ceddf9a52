import {
  checkInWords,
  doingOf,
  emptyTree,
  endInWords,
  growTree,
  keptInWords,
  leftOutCount,
  MERGING,
  type StoredEvent,
  setupInWords,
  slotInWords,
  standingOf,
  type TreeAgent,
  timeAtWork,
  turnInWords,
} from '../../index.js'
import { cost, count, duration, line, type Paint, plural } from '../style.js'

/** A title can be a sentence; its agent's own page has all of it. */
const TITLE_CHARS = 60

/** Every agent of a run below the one that asked for it: what it is, what became of it, and what it spent itself. */
export function treeLines(
  events: readonly StoredEvent[],
  { now, interrupted }: { now: number; interrupted: boolean },
  paint: Paint,
): string[] {
  const { root } = events.reduce(growTree, emptyTree())
  if (!root || root.children.length === 0) return []
  // When the process was gone nobody knows better than by its last event.
  const then = interrupted ? (events.at(-1)?.at ?? now) : now
  const rows = below(root, 0).map(({ agent, depth }) => ({
    agent,
    name: nameOf(agent, depth),
    state: stateOf(agent, interrupted),
  }))
  const widest = (texts: string[]) => texts.reduce((most, { length }) => Math.max(most, length), 0)
  const names = widest(rows.map(({ name }) => name))
  const states = widest(rows.map(({ state }) => state))
  return rows.map(({ agent, name, state }) => {
    const shown = colourOf(agent, paint)(state.padEnd(states))
    return `${name.padEnd(names)}  ${shown}  ${paint.dim(figuresOf(agent, then))}`
  })
}

function below(agent: TreeAgent, depth: number): { agent: TreeAgent; depth: number }[] {
  return [{ agent, depth }, ...agent.children.flatMap((child) => below(child, depth + 1))]
}

function nameOf({ id, profile, title }: TreeAgent, depth: number): string {
  const whole = line(title.replace(/\s+/g, ' '))
  const short = whole.length > TITLE_CHARS ? `${whole.slice(0, TITLE_CHARS - 1)}…` : whole
  return `${'  '.repeat(depth)}${id} ${profile === null ? '' : `${profile}: `}${short}`
}

function colourOf(agent: TreeAgent, { green, red, dim, yellow }: Paint): (text: string) => string {
  return { completed: green, incomplete: yellow, failed: red, waiting: dim, at_work: yellow }[standingOf(agent)]
}

function stateOf(agent: TreeAgent, interrupted: boolean): string {
  const { outcome, state, reused_from, kept_on, left_out } = agent
  const standing = standingOf(agent)
  if (standing === 'waiting' || standing === 'at_work') return interrupted ? 'interrupted' : (joining(agent) ?? state)
  const ended = outcome === null ? standing : endInWords(standing, outcome)
  const kept = kept_on === null ? '' : `, ${line(keptInWords(kept_on))}`
  const ignored = left_out.length === 0 ? '' : `, left out ${leftOutCount(left_out)}`
  return `${ended}${reused_from ? ', an earlier result' : ''}${kept}${ignored}`
}

/** What its state does not say: for which worker it waits, that it waits to write or to have all that it needs, or what its parent does with its work. */
function joining(agent: TreeAgent): string | null {
  const doing = doingOf(agent)
  if (doing.kind === 'waiting_for_slot' && doing.label !== null) return slotInWords(doing.label)
  if (doing.kind === 'waiting_to_write') return turnInWords(doing.behind)
  if (doing.kind === 'setting_up') return setupInWords(line(doing.command))
  if (doing.kind === 'being_merged') return MERGING
  return doing.kind === 'being_checked' ? checkInWords(doing.after_merge, line(doing.what)) : null
}

function figuresOf(agent: TreeAgent, now: number): string {
  const { tool_calls, refusals, tokens, cost_usd } = agent.own
  return [
    plural(tool_calls, 'call'),
    ...(refusals > 0 ? [`${count(refusals)} refused`] : []),
    plural(tokens, 'token'),
    cost(cost_usd),
    duration(timeAtWork(agent, now)),
    ...(agent.attempt > 1 ? [`attempt ${agent.attempt}`] : []),
  ].join(', ')
}
