import type { Spend } from './budget.js'
import type { Contract } from './contract.js'
import { CorruptLogError } from './corruption.js'
import type { EventData, StoredEvent } from './events.js'
import type { AgentResult } from './result.js'
import { foldAgent } from './state.js'

/** All that the log of a run says about one of its agents. */
export type Dossier = {
  id: string
  /** null where an earlier result was used and nobody ran. */
  contract: Contract | null
  title: string
  task: string
  /** Who asked for it, and with which call. null: whoever started the run. */
  asked_by: { agent_id: string; call_id: string } | null
  reused_from: { run_id: string; agent_id: string } | null
  attempts: number
  /** The tree of files that is its own; null: it works where its parent does, the root in the folder. */
  worktree: EventData<'agent.worktree_created'> | null
  /** How its worktree was made ready, each time that was tried. */
  setups: EventData<'agent.setup_finished'>[]
  gates: EventData<'agent.gate_checked'>[]
  /** The last that is known. */
  result: AgentResult | null
  /** null: it is not closed. */
  final_status: 'completed' | 'failed' | null
  close_reason: string | null
  /** Of its budget, and whether every price was known; null where it did not start, or its log is corrupt. */
  spent: { amounts: Spend; priced: boolean } | null
  /** Its own events, and those of its parent that are about it. */
  events: StoredEvent[]
}

/** null: the run has no such agent. */
export function openDossier(events: readonly StoredEvent[], id: string): Dossier | null {
  const about = events.filter((event) => event.agent_id === id || isAbout(event, id))
  if (about.length === 0) return null
  const dossier: Dossier = {
    ...{
      id,
      contract: null,
      title: '',
      task: '',
      asked_by: null,
      reused_from: null,
      attempts: 1,
      gates: [],
      setups: [],
    },
    ...{ worktree: null, result: null, final_status: null, close_reason: null },
    spent: spentOf(about.filter((event) => event.agent_id === id)),
    events: about,
  }
  for (const event of about) note(dossier, event)
  return dossier
}

/** Every agent of a run in the order of creation, those included whose result was an earlier one's. */
export function agentIds(events: readonly StoredEvent[]): string[] {
  const ids = new Set<string>()
  for (const event of events) {
    ids.add(event.agent_id)
    if (event.type === 'agent.subagent_created' || event.type === 'agent.subagent_reused')
      ids.add(event.data.sub_agent_id)
  }
  return [...ids]
}

function isAbout({ type, data }: StoredEvent, id: string): boolean {
  if (type === 'agent.results_delivered') return data.sub_agent_ids.includes(id)
  if (type === 'tool.finished') return data.delivers?.includes(id) ?? false
  return 'sub_agent_id' in data && data.sub_agent_id === id
}

function note(dossier: Dossier, event: StoredEvent): void {
  // What its stream says about its own sub-agents is in their dossiers.
  if ('sub_agent_id' in event.data && event.data.sub_agent_id !== dossier.id) return
  switch (event.type) {
    case 'agent.started':
    case 'agent.subagent_started':
    case 'agent.subagent_created': {
      const { contract, task } = event.data
      Object.assign(dossier, { contract, task, title: contract.step.title })
      if (event.type !== 'agent.subagent_created') return
      dossier.asked_by = { agent_id: event.agent_id, call_id: event.data.call_id }
      return
    }
    case 'agent.subagent_reused': {
      const { title, call_id, from, result } = event.data
      Object.assign(dossier, { title, result, reused_from: from, asked_by: { agent_id: event.agent_id, call_id } })
      return
    }
    case 'agent.subagent_attempt':
      dossier.attempts = event.data.attempt
      return
    case 'agent.worktree_created':
      dossier.worktree = event.data
      return
    case 'agent.setup_finished':
      dossier.setups.push(event.data)
      return
    case 'agent.gate_checked':
      dossier.gates.push(event.data)
      return
    case 'agent.finished':
    case 'agent.subagent_waiting_for_merge':
    case 'agent.subagent_failed':
      dossier.result = event.data.result
      return
    case 'agent.subagent_closed':
      dossier.result = event.data.result
      dossier.final_status = event.data.final_status
      dossier.close_reason = event.data.close_reason
      return
    case 'run.closed':
      dossier.close_reason = event.data.reason
  }
}

/** A log that no correct writer made is shown as far as it goes. */
function spentOf(events: readonly StoredEvent[]): Dossier['spent'] {
  try {
    const memory = foldAgent(events)
    return memory && { amounts: memory.ledger.spent, priced: memory.priced }
  } catch (error) {
    if (error instanceof CorruptLogError) return null
    throw error
  }
}
