import { isDeepStrictEqual } from 'node:util'
import {
  type AgentEvent,
  type AgentMemory,
  type EventData,
  type Part,
  PROGRAM,
  type Purpose,
  reduce,
  type Usage,
} from '../../domain/index.js'
import { expectedText } from './expected.js'
import { summaryNotes } from './position.js'
import type { ListName, Script, ScriptedCall, ScriptedPart, Step } from './script.js'

type Lists = Record<ListName, Step[]>

const LIST_OF: Record<Purpose, ListName> = { turn: 'steps', report: 'report', summary: 'summary' }

/**
 * A script that says again what the models of a run said, made from the run's log: of a run that is closed, or as far
 * as it came. Strict: a step expects what the agent was told then, so that a run that drifts away is noticed.
 */
export function scriptOf(events: Iterable<AgentEvent>): Script {
  const agents = new Map<string, ReturnType<typeof recordAgent>>()
  const programs = new Set<string>()
  let workspace_root = ''
  for (const event of events) {
    if (event.type === 'agent.started' && event.data.contract.model.provider === PROGRAM) programs.add(event.agent_id)
    if (event.type === 'run.created') workspace_root = event.data.workspace_root
    const agent = agents.get(event.agent_id) ?? recordAgent(() => workspace_root)
    agents.set(event.agent_id, agent)
    agent.take(event)
  }
  // What a program says it says again by itself.
  const said = [...agents].flatMap(([id, agent]) => (programs.has(id) ? [] : agent.recorded(id)))
  const windows = [...agents.values()].map((agent) => agent.window() ?? 0)
  const window = Math.max(0, ...windows)
  return { ...(window > 0 ? { window } : {}), agents: Object.fromEntries(said) }
}

function recordAgent(workspaceRoot: () => string) {
  let lists = noLists()
  /** By attempt. Each begins the conversation anew, so each has lists of its own. */
  const attempts = new Map([[1, lists]])
  /** Calls that were interrupted: what came of them was an accident. */
  const unsure = new Set<string>()
  let memory: AgentMemory | null = null
  let asked: { purpose: Purpose; expect: Pick<Step, 'expect'> } | null = null

  return {
    take(event: AgentEvent): void {
      if (event.type === 'agent.subagent_attempt') {
        lists = attempts.get(event.data.attempt) ?? noLists()
        attempts.set(event.data.attempt, lists)
      } else if (event.type === 'model.requested' && memory) {
        const { purpose, attempt } = event.data
        // What the first attempt was told need not be said again for the next.
        const again = attempt > 1 && lists[LIST_OF[purpose]].at(-1)?.fail !== undefined
        const like = purpose === 'turn' && !again ? expectedText(memory, workspaceRoot(), unsure) : null
        asked = { purpose, expect: like === null ? {} : { expect: { like } } }
      } else if (event.type === 'model.failed' && asked) {
        const step = failed(event.data)
        if (step) lists[LIST_OF[asked.purpose]].push({ ...asked.expect, ...step })
      } else if (event.type === 'model.responded' && asked) {
        lists[LIST_OF[asked.purpose]].push({ ...asked.expect, ...answered(event.data) })
      } else if (event.type === 'tool.finished' && event.data.status === 'interrupted') {
        unsure.add(event.data.call_id)
      }
      memory = reduce(memory, event)
    },
    /** What compaction went by. */
    window: () => memory?.contract.execution.budget.context_tokens ?? null,
    recorded: (id: string) =>
      [...attempts].map(([attempt, said]) => [attempt === 1 ? id : `${id}#${attempt}`, recorded(said)] as const),
  }
}

function noLists(): Lists {
  return { steps: [], report: [], summary: [] }
}

function recorded({ steps, report, summary }: Lists): Script['agents'][string] {
  return { steps, ...(report.length > 0 ? { report } : {}), ...(summary.length > 0 ? { summary } : {}) }
}

/** Null for what did not come from the model: the process was stopped, or somebody stopped the run. */
function failed({ code, message, retry_after_ms }: EventData<'model.failed'>): Step | null {
  if (code === 'interrupted' || code === 'aborted') return null
  return { fail: { code, message, ...(retry_after_ms === null ? {} : { retry_after_ms }) } }
}

function answered({
  purpose,
  parts,
  finish_reason,
  usage,
  usage_source,
  cost_usd,
}: EventData<'model.responded'>): Step {
  const said = parts.map((part) => toPart(part, purpose)).filter((part) => part !== null)
  const usual = parts.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop'
  return {
    ...shaped(said),
    ...(finish_reason === usual ? {} : { finish_reason }),
    // Where the provider did not count, the runtime estimates, and will do so again.
    ...(usage_source === 'provider' ? { usage: counted(usage) } : {}),
    ...(usage_source === 'provider' && typeof cost_usd === 'number' ? { cost_usd } : {}),
  }
}

function counted(usage: Usage): Partial<Usage> {
  return Object.fromEntries(Object.entries(usage).filter(([, tokens]) => tokens > 0))
}

function toPart(part: Part, purpose: Purpose): ScriptedPart | null {
  switch (part.type) {
    case 'reasoning':
      return { reasoning: part.text }
    case 'tool_call':
      return { call: toCall(part.tool, part.args) }
    case 'text': {
      // A run that was itself played from a script has the script's notes in its summaries.
      const text = purpose === 'summary' ? part.text.replace(summaryNotes, '') : part.text
      return text === '' && part.text !== '' ? null : { text }
    }
  }
}

/** Reasoning, text and calls by their names where they come in this order, as they mostly do. */
function shaped(parts: ScriptedPart[]): Pick<Step, 'reasoning' | 'text' | 'calls' | 'parts'> {
  const kinds = parts.map((part) => ('reasoning' in part ? 'r' : 'text' in part ? 't' : 'c')).join('')
  if (kinds === '' || kinds === 'r') return { ...Object.assign({}, ...parts), text: '' }
  if (!/^r?t?c*$/.test(kinds)) return { parts }
  const calls = parts.flatMap((part) => ('call' in part ? [part.call] : []))
  const words = parts.filter((part) => !('call' in part))
  return { ...Object.assign({}, ...words), ...(calls.length > 0 ? { calls } : {}) }
}

/** As an object where that says the same, otherwise as the text that the model wrote. */
function toCall(tool: string, args: string): ScriptedCall {
  try {
    const value: unknown = JSON.parse(args)
    const plain = typeof value === 'object' && value !== null && !Array.isArray(value) && !args.includes('__proto__')
    // Numbers can be too large for what JSON becomes.
    if (plain && isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)) return { [tool]: value as never }
  } catch {
    // Not JSON: a weak model's, and worth keeping as it is.
  }
  return { tool, raw_args: args }
}
