import { type StoredEvent, summarize, type ToolStatus } from './events.js'
import { callsOf, type ToolCallPart, textOf } from './messages.js'

/** What an agent was told, said and did, as a conversation. `position`: of the event that it is from. */
export type TranscriptEntry = { position: number; at: number } & (
  | { kind: 'task'; text: string }
  | { kind: 'said'; text: string; reasoning: string; model: string; purpose: 'turn' | 'report' | 'summary' }
  | {
      kind: 'call'
      call_id: string
      tool: string
      /** Empty until it is begun or refused. */
      summary: string
      args: unknown
      /** null: it is under way, or has yet to begin. */
      ended: CallEnd | null
    }
  | { kind: 'note'; text: string }
)

/** What became of a call. `position`: of the event that says it; null: it was left when its agent ended or began anew. */
export type CallEnd = {
  position: number | null
  status: ToolStatus | 'refused'
  content: string
  duration_ms: number
  /** There is more than `content`, stored with that event. */
  whole_output: boolean
}

type CallEntry = Extract<TranscriptEntry, { kind: 'call' }>

/** From the events of one agent, in their order. */
export function transcriptOf(events: readonly StoredEvent[]): TranscriptEntry[] {
  const entries: TranscriptEntry[] = []
  const calls = new Map<string, CallEntry>()
  for (const event of events) grow(entries, calls, event)
  return entries
}

function grow(entries: TranscriptEntry[], calls: Map<string, CallEntry>, event: StoredEvent): void {
  const place = { position: event.position, at: event.at }
  const note = () => entries.splice(beforeOpen(entries), 0, { ...place, kind: 'note', text: summarize(event) })
  const call = (made: Pick<CallEntry, 'call_id' | 'tool' | 'summary' | 'args'>): CallEntry => {
    const entry: CallEntry = calls.get(made.call_id) ?? { ...place, kind: 'call', ...made, ended: null }
    if (!calls.has(made.call_id)) entries.push(entry)
    calls.set(made.call_id, entry)
    return entry
  }
  switch (event.type) {
    case 'agent.started':
    case 'agent.subagent_started':
      entries.push({ ...place, kind: 'task', text: event.data.task })
      return
    case 'model.responded': {
      const { parts, answered_by, purpose } = event.data
      const text = textOf(parts)
      const reasoning = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
      const made = purpose === 'turn' ? callsOf(parts) : []
      if (text !== '' || reasoning !== '' || made.length === 0) {
        entries.push({ ...place, kind: 'said', text, reasoning, model: answered_by, purpose })
      }
      for (const part of made) call({ call_id: part.call_id, tool: part.tool, summary: '', args: argsOf(part) })
      return
    }
    case 'tool.called': {
      const { call_id, tool, summary, args, attempt } = event.data
      Object.assign(call({ call_id, tool, summary, args }), { tool, summary, args })
      if (attempt > 1) note()
      return
    }
    case 'tool.refused': {
      const { call_id, tool, summary, content } = event.data
      const ended: CallEnd = { ...END, position: event.position, status: 'refused', content }
      Object.assign(call({ call_id, tool, summary, args: null }), { summary, ended })
      return
    }
    case 'tool.finished': {
      const { call_id, tool, status, content, output, duration_ms } = event.data
      const ended: CallEnd = { position: event.position, status, content, duration_ms, whole_output: output !== null }
      Object.assign(call({ call_id, tool, summary: '', args: null }), { ended })
      return
    }
    case 'agent.subagent_attempt':
      if (event.data.attempt === 1) return
      leave(calls)
      note()
      return
    case 'agent.finished':
    case 'agent.subagent_waiting_for_merge':
    case 'agent.subagent_failed':
      // Of a sub-agent that never started it is its parent who says so.
      if (event.type === 'agent.finished' || event.data.sub_agent_id === event.agent_id) leave(calls)
      return
    case 'agent.resumed':
    case 'agent.woken':
    case 'model.failed':
    case 'permission.asked':
    case 'permission.answered':
    case 'context.masked':
    case 'context.summarized':
    case 'budget.exceeded':
    case 'run.cancel_requested':
    case 'agent.cancel_requested':
    case 'agent.workspace_awaited':
    case 'agent.worktree_created':
    case 'agent.worktree_failed':
    case 'agent.setup_finished':
    case 'agent.results_delivered':
      note()
  }
}

/** Where the calls begin that nobody has begun yet: what happens meanwhile, such as waiting to write, comes before them. */
function beforeOpen(entries: readonly TranscriptEntry[]): number {
  const begun = entries.findLastIndex((entry) => entry.kind !== 'call' || entry.summary !== '' || entry.ended !== null)
  return begun + 1
}

const END = { duration_ms: 0, whole_output: false }

/** Nobody carries out what is open any more. */
function leave(calls: Map<string, CallEntry>): void {
  for (const entry of calls.values()) entry.ended ??= { ...END, position: null, status: 'cancelled', content: '' }
}

/** As an object, or the text that the model wrote where it is none. */
function argsOf({ args }: ToolCallPart): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}
