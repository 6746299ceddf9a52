import { type AgentMemory, type ModelRequest, reduce, type StoredEvent } from '../domain/index.js'
import type { Store } from '../store/index.js'
import { loadAgent } from './load.js'
import { buildRequest, requestDigest } from './request.js'

export type RebuiltRequest = { seq: number; position: number; request_id: string; model: string; request: ModelRequest }

export type Replay =
  | { ok: true; requests: RebuiltRequest[]; events: number }
  | {
      ok: false
      code: 'not_found' | 'tampered' | 'differs'
      message: string
      seq: number | null
      requests: RebuiltRequest[]
    }

/** Rebuilds every request of an agent from its log and compares it with the digest of the one that was sent. */
export async function replayAgent(store: Store, run_id: string, agent_id: string): Promise<Replay> {
  const loaded = await loadAgent(store, run_id, agent_id)
  if (!loaded.ok) {
    const tampering = loaded.code === 'tampered' ? await store.verify(run_id) : null
    return { ok: false, code: loaded.code, message: loaded.message, seq: tampering?.seq ?? null, requests: [] }
  }
  const requests: RebuiltRequest[] = []
  let memory: AgentMemory | null = null
  for (const event of loaded.events) {
    if (event.type === 'model.requested' && memory) {
      const rebuilt = rebuild(memory, event, loaded.material)
      if (rebuilt.digest !== event.data.request_digest) {
        const message = `event ${event.seq}: the request rebuilt from the log is not the one that was sent (${rebuilt.digest.slice(0, 12)}… instead of ${event.data.request_digest.slice(0, 12)}…)`
        return { ok: false, code: 'differs', message, seq: event.seq, requests }
      }
      requests.push(rebuilt.request)
    }
    memory = reduce(memory, event)
  }
  return { ok: true, requests, events: loaded.events.length }
}

function rebuild(
  memory: AgentMemory,
  event: Extract<StoredEvent, { type: 'model.requested' }>,
  material: Parameters<typeof buildRequest>[1],
): { digest: string; request: RebuiltRequest } {
  const { purpose, model, request_id } = event.data
  const request = buildRequest(memory, material, purpose)
  const digest = requestDigest(model, memory.contract.agent.prompt_digest, request)
  return { digest, request: { seq: event.seq, position: event.position, request_id, model, request } }
}
