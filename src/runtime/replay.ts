import { type AgentMemory, type ModelRequest, reduce, type StoredEvent } from '../domain/index.js'
import type { Store } from '../store/index.js'
import { findTampering, loadMaterial, notStarted } from './load.js'
import { buildRequest, type Material, requestDigest } from './request.js'

export type RebuiltRequest = {
  agent_id: string
  seq: number
  position: number
  request_id: string
  model: string
  request: ModelRequest
}

export type Replay =
  | { ok: true; requests: RebuiltRequest[]; events: number; agents: number }
  | {
      ok: false
      code: 'not_found' | 'tampered' | 'differs'
      message: string
      seq: number | null
      requests: RebuiltRequest[]
    }

/**
 * Rebuilds every request of a run, its sub-agents' included, from the log and compares each with the digest of the one
 * that was sent. In the order in which they were sent.
 */
export async function replayRun(store: Store, run_id: string): Promise<Replay> {
  const tampered = await findTampering(store, run_id)
  if (tampered) return { ...tampered, requests: [] }
  const events = await store.read({ run_id })
  const agents = new Map<string, { memory: AgentMemory; material: Material }>()
  const requests: RebuiltRequest[] = []
  for (const event of events) {
    const { agent_id, seq } = event
    const agent = agents.get(agent_id)
    if (event.type === 'model.requested' && agent) {
      const { digest, rebuilt } = rebuild(agent, event)
      if (digest !== event.data.request_digest) {
        const message = `event ${seq} of agent ${agent_id}: the request rebuilt from the log is not the one that was sent (${digest.slice(0, 12)}… instead of ${event.data.request_digest.slice(0, 12)}…)`
        return { ok: false, code: 'differs', message, seq, requests }
      }
      requests.push(rebuilt)
    }
    const memory = reduce(agent?.memory ?? null, event)
    if (memory) agents.set(agent_id, { memory, material: agent?.material ?? (await loadMaterial(store, memory)) })
  }
  if (agents.size === 0) return { ...notStarted(`run ${run_id} has no agent that was started`), requests }
  return { ok: true, requests, events: events.length, agents: agents.size }
}

function rebuild(
  { memory, material }: { memory: AgentMemory; material: Material },
  event: Extract<StoredEvent, { type: 'model.requested' }>,
): { digest: string; rebuilt: RebuiltRequest } {
  const { purpose, model, request_id } = event.data
  const request = buildRequest(memory, material, purpose)
  const digest = requestDigest(model, memory.contract.agent.prompt_digest, request)
  const { agent_id, seq, position } = event
  return { digest, rebuilt: { agent_id, seq, position, request_id, model, request } }
}
