import { type AgentMemory, type Child, foldAgent } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** The sub-agents with these ids that earlier runs of the session had, as far as there are such. */
export async function earlierChildren(store: Store, parent: AgentMemory, ids: readonly string[]): Promise<Child[]> {
  const { run_id, agent_id } = parent
  const missing = new Set(ids)
  const found: Child[] = []
  let before = parent.children_before
  if (before === 0 || missing.size === 0) return found
  const run = await store.run(run_id)
  const earlier = run ? await store.runs({ session_id: run.session_id }) : []
  for (const row of earlier.filter((one) => one.run_id !== run_id)) {
    if (before === 0 || missing.size === 0) break
    const memory = foldAgent(await store.read({ run_id: row.run_id, agent_id }))
    for (const child of memory?.children ?? []) if (missing.delete(child.id)) found.push(child)
    before = memory?.children_before ?? before
  }
  return found
}
