import { type AgentMemory, foldAgent, type Message, type Prompt, type StoredEvent } from '../domain/index.js'
import type { Store } from '../store/index.js'
import type { Material } from './request.js'

export type Loaded = { ok: true; memory: AgentMemory; material: Material; events: StoredEvent[] }
export type LoadFault = { ok: false; code: 'not_found' | 'tampered'; message: string; seq: number | null }

/** An agent as its log tells it, after the whole run's log was found untouched. */
export async function loadAgent(store: Store, run_id: string, agent_id: string): Promise<Loaded | LoadFault> {
  return (await findTampering(store, run_id)) ?? openAgent(store, run_id, agent_id)
}

/** The same for one of many agents of a run whose log was verified before: starting, resuming and going on begin here. */
async function openAgent(store: Store, run_id: string, agent_id: string): Promise<Loaded | LoadFault> {
  const events = await store.read({ run_id, agent_id })
  const memory = foldAgent(events)
  if (!memory) return notStarted(`run ${run_id} has no agent ${agent_id} that was started`)
  return { ok: true, memory, material: await loadMaterial(store, memory), events }
}

export async function findTampering(store: Store, run_id: string): Promise<LoadFault | null> {
  const tampering = await store.verify(run_id)
  if (!tampering) return null
  const { agent_id, seq, message } = tampering
  const what = `event ${seq} of agent ${agent_id} is not what was written: ${message}`
  return { ok: false, code: 'tampered', message: what, seq }
}

export function notStarted(message: string): LoadFault {
  return { ok: false, code: 'not_found', message, seq: null }
}

/** What the agent's requests are made of besides its own stream. */
export async function loadMaterial(store: Store, memory: AgentMemory): Promise<Material> {
  const { prompt_digest } = memory.contract.agent
  const prompt = (await readJson(store, prompt_digest)) as Prompt
  const history = memory.history_digest ? ((await readJson(store, memory.history_digest)) as Message[]) : []
  return { prompt, history }
}

async function readJson(store: Store, digest: string): Promise<unknown> {
  const bytes = await store.blob(digest)
  if (!bytes) throw new Error(`The store has lost blob ${digest}, which an agent's prompt was made of`)
  return JSON.parse(Buffer.from(bytes).toString('utf8'))
}
