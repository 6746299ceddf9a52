import { z } from 'zod'
import type { AgentRow } from '../domain/index.js'
import type { Signal, Store } from '../store/index.js'
import { AT_REST } from './rest.js'

/**
 * `ask`: the same however often it is said. `finishes`: what is at work does so first, and the root agent sees to that,
 * while no other of its sub-agents begins; otherwise all of the run is let go of at once.
 */
const pauseSchema = z.strictObject({ ask: z.string(), reason: z.string(), finishes: z.boolean() })
export type PauseSignal = z.infer<typeof pauseSchema>

/** `seq`: the last event of the root agent, where nobody had the run; null: somebody did. */
const resumeSchema = z.strictObject({ seq: z.int().nullable(), principal: z.string().optional() })
export type ResumeSignal = z.infer<typeof resumeSchema>

export type Pause = PauseSignal & { by: string }

/** By what was said to a run it is paused, or is to be. null: it is not, or it is to be cancelled, which is more. */
export function pauseIn(signals: readonly Signal[]): Pause | null {
  const said = new Set<string>()
  let pause: Pause | null = null
  for (const { kind, data, by } of signals) {
    if (kind === 'cancel') return null
    if (kind === 'resume') pause = null
    const read = kind === 'pause' ? pauseSchema.safeParse(data) : null
    // Whoever waits for it says it again and again, also when somebody has gone on with the run meanwhile.
    if (!read?.success || said.has(read.data.ask)) continue
    said.add(read.data.ask)
    pause = { ...read.data, by }
  }
  return pause
}

export function pauseInWords({ by, reason }: Pick<Pause, 'by' | 'reason'>): string {
  return `paused by ${by}: ${reason}`
}

/** Who went on with a run that nobody had, where nothing has happened in it since. */
export function resumeOf(signals: readonly Signal[], seq: number): ResumeSignal | null {
  const read = signals.flatMap(({ kind, data }) => (kind === 'resume' ? [resumeSchema.safeParse(data)] : []))
  return read.findLast((one) => one.data?.seq === seq)?.data ?? null
}

type Agent = { run_id: string; agent_id: string }

/**
 * Leaves one alone that is to be worked on, where its run is paused: nobody has it from then on, and that it was to be is
 * kept for whoever goes on with the run. false: it is not paused.
 */
export async function leaveAlone(store: Store, agent: Agent): Promise<boolean> {
  if (!(await pauseFor(store, agent))) return false
  const { run_id, agent_id } = agent
  await store.signal({ run_id, kind: 'deferred', data: { agent_id }, by: 'runtime' })
  // Whoever went on with it meanwhile did not know of this one.
  const pause = await pauseFor(store, agent)
  if (!pause) return false
  const is_root = (await store.agent(run_id, agent_id))?.parent_id === null
  if (!pause.finishes) await leaveResting(store, run_id, is_root ? 'all' : [agent_id])
  return true
}

/** The pause by which one is not to be worked on; null: it is to be. */
async function pauseFor(store: Store, { run_id, agent_id }: Agent): Promise<Pause | null> {
  const signals = await store.signals({ run_id, after: 0 })
  const pause = pauseIn(signals)
  if (!pause?.finishes) return pause
  const row = await store.agent(run_id, agent_id)
  // As long as it has not let go of the run, it joins what others finish.
  if (row?.parent_id === null) return (await store.lease(run_id, agent_id))?.expires_at === 0 ? pause : null
  const waits = row?.state === 'created' && !isCancelled(signals, agent_id) && (await isStep(store, row))
  return waits ? pause : null
}

/** Whether it is at the beginning of something, and not part of what others are at work on. */
async function isStep(store: Store, { run_id, agent_id, parent_id }: AgentRow): Promise<boolean> {
  if (parent_id === null || (await store.agent(run_id, parent_id))?.parent_id !== null) return false
  const made = (await store.read({ run_id, agent_id: parent_id })).find(
    (event) => event.type === 'agent.subagent_created' && event.data.sub_agent_id === agent_id,
  )
  return made?.type === 'agent.subagent_created' && made.data.repairs === undefined
}

/** It is only to be closed. */
function isCancelled(signals: readonly Signal[], agent_id: string): boolean {
  return signals.some(
    ({ kind, data }) => kind === 'cancel_agent' && (data as { agent_id: string }).agent_id === agent_id,
  )
}

/** Those that were kept for whoever goes on with the run. */
export function deferredIn(signals: readonly Signal[]): string[] {
  const ids = signals.flatMap(({ kind, data }) =>
    kind === 'deferred' ? [(data as { agent_id: string }).agent_id] : [],
  )
  return [...new Set(ids)]
}

/** One that rests in a paused run is nobody's: no time of its own passes, and everybody sees that nobody works on it. */
export async function leaveResting(store: Store, run_id: string, ids: 'all' | readonly string[]): Promise<void> {
  for (const { agent_id, state } of await store.agents(run_id)) {
    if (state === 'closed' || (ids !== 'all' && !ids.includes(agent_id))) continue
    const lease = await store.lease(run_id, agent_id)
    if (lease?.owner === AT_REST) await store.release(lease)
  }
}
