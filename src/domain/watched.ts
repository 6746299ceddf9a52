import type { Contract } from './contract.js'
import { type StoredEvent, summarize } from './events.js'

/**
 * An event as it is sent to those who watch a run from afar: what it says in a line, and its long texts cut short. It is
 * an event all the same, so that whatever is made of a log can be made of these: the tree of its agents, what they did
 * one after the other, plans and costs. `cut`: the log has more of it.
 */
export type WatchedEvent = StoredEvent & { summary: string; cut: boolean }

/** So much of a text is sent. */
const MOST_CHARS = 1_000
/** The same of names of sub-agents that a call waits for: cut in the middle, it would wait for others. */
const MOST_CHARS_OF_NAMES = 100_000
/** So many of a list: of steps, agents and files there are seldom more. */
const MOST_ENTRIES = 1_000

export function watched(event: StoredEvent): WatchedEvent {
  const shortener = { cut: 'contract' in event.data }
  const whole = 'contract' in event.data ? { ...event.data, contract: outlined(event.data.contract) } : event.data
  const data = shortened(whole, MOST_CHARS, shortener)
  return { ...event, data, summary: summarize(event), cut: shortener.cut } as WatchedEvent
}

/** Contracts would be a third of what is sent. What is left: whose it is, on which model, in which mode, what was adjusted. */
function outlined({ parent, step, permissions, workspace, ...contract }: Contract): Contract {
  const { mode } = permissions
  return {
    ...contract,
    parent: { ...parent, task_prompt: '', goal_summary: '' },
    step: { title: step.title, description: '', success_criteria: [] },
    permissions: {
      ...permissions,
      ...{ allowed_tools: [], allowed_skills: [], allowed_mcp_servers: [], read_paths: [[]], write_paths: [[]] },
      rules: [{ mode, rules: [] }],
    },
    workspace: { ...workspace, owns: [] },
  }
}

function shortened(value: unknown, most: number, shortener: { cut: boolean }): unknown {
  if (typeof value === 'string') {
    if (value.length <= most) return value
    shortener.cut = true
    // Not between the two halves of a character.
    return `${value.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  if (entries.length > MOST_ENTRIES) shortener.cut = true
  const kept = entries.slice(0, MOST_ENTRIES).map(([key, entry]) => {
    return [key, shortened(entry, key === 'job_ids' ? MOST_CHARS_OF_NAMES : MOST_CHARS, shortener)] as const
  })
  return Array.isArray(value) ? kept.map(([, entry]) => entry) : Object.fromEntries(kept)
}
