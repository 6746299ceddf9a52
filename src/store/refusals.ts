import type { NewEvent } from '../domain/index.js'
import type { Append, AppendResult } from './store.js'

type Refused = Extract<AppendResult, { ok: false }>
type Stream = { seq: number; epoch: number; owner: string }

/** Why a batch was not taken, judged by the stream as it is. */
export function refusal(batch: Append, stream: Stream | undefined): Refused {
  const agent = `agent ${batch.agent_id} of run ${batch.run_id}`
  if (batch.claim) {
    return conflict(`The stream of ${agent} exists already, so it cannot be claimed. Acquire its lease instead.`)
  }
  if (!stream) return fenced(`Nobody holds the lease of ${agent}. Acquire it before appending.`)
  if (stream.epoch !== batch.epoch) {
    return fenced(
      `The lease of ${agent} is at epoch ${stream.epoch}, held by ${stream.owner}; epoch ${batch.epoch} may not write.`,
    )
  }
  return conflict(
    `The stream of ${agent} is at event ${stream.seq}, not ${batch.expected_seq}: another writer got there first. ` +
      'Read it again.',
  )
}

export function runExists(batch: Append): Refused {
  return conflict(`Run ${batch.run_id} exists already. Choose another id.`)
}

/** Whether it would begin an agent, with a claim or under a lease that was taken before. */
export function beginsAgent({ expected_seq }: Append): boolean {
  return expected_seq === 0
}

/** For one that begins an agent late. Whoever closed the run has closed its agents, and nobody would close this one. */
export function runIsClosed({ run_id, agent_id }: Append): Refused {
  return conflict(`Run ${run_id} is closed, so agent ${agent_id} cannot begin in it any more.`)
}

/** A batch that no state of the store could take. It is thrown out at the door, because only a bug makes one. */
export function assertSound(batch: Append): void {
  if (batch.claim && batch.expected_seq !== 0) {
    throw new Error(`Agent ${batch.agent_id} can only be claimed with expected_seq 0, not ${batch.expected_seq}.`)
  }
  const made = new Set<string>()
  for (const [i, event] of batch.events.entries()) {
    if (event.type === 'run.created' && i > 0) throw new Error('run.created can only be the first event of a run.')
    const agent_id = madeBy(event, batch.agent_id)
    if (agent_id === null) continue
    if (made.has(agent_id)) throw agentExists(batch.run_id, agent_id)
    made.add(agent_id)
  }
}

/** The agent whose row the event makes. */
function madeBy(event: NewEvent, writer: string): string | null {
  if (event.type === 'agent.started') return writer
  return event.type === 'agent.subagent_created' ? event.data.sub_agent_id : null
}

export function noRun(run_id: string): Error {
  return new Error(`Run ${run_id} does not exist. Its first event must be run.created.`)
}

export function agentExists(run_id: string, agent_id: string): Error {
  return new Error(`Agent ${agent_id} of run ${run_id} exists already.`)
}

/** `cause`: what it waited for to pass when it was closed. */
export function storeClosed(cause?: unknown): Error {
  return new Error('The store is closed.', { cause })
}

function conflict(message: string): Refused {
  return { ok: false, code: 'conflict', message }
}

function fenced(message: string): Refused {
  return { ok: false, code: 'fenced', message }
}
