import type { Access, Witness } from '../domain/index.js'
import type { Plan, PlanResult, ToolContext } from './tool.js'

/** Plans a call that touches one path: where it really is, so that authority judges the real target. */
export async function planPath(
  context: ToolContext,
  path: string,
  access: Access,
  summary: (path: string) => string,
): Promise<PlanResult> {
  const resolved = await context.workspace.resolve(path)
  if (!resolved.ok) return { ok: false, message: resolved.message }
  return { ok: true, plan: { summary: summary(resolved.path), paths: [{ path: resolved.path, access }] } }
}

/** The path that was planned and authorized. A call works on this one, never on the text the model wrote. */
export function plannedPath(plan: Plan): string {
  const [first] = plan.paths
  if (!first) throw new Error('the plan names no path')
  return first.path
}

export function plannedWitness(plan: Plan): Witness {
  if (!plan.witness) throw new Error('the plan has no witness')
  return plan.witness
}

/** Did a write take effect? Told from the digest of what is there now. */
export async function recoverWrite(
  path: string,
  witness: Witness,
  context: ToolContext,
): Promise<'done' | 'not_done' | 'unknown'> {
  const now = await context.workspace.digest(path)
  if (!now.ok) return 'unknown'
  if (now.digest === witness.after) return 'done'
  return now.digest === witness.before ? 'not_done' : 'unknown'
}
