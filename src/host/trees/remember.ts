import type { TreeResult } from '../host.js'
import { fault } from '../paths.js'
import { list } from './list.js'
import { asTreeFault, type Private } from './private.js'
import { commitOf, hidden } from './refs.js'

export async function remember(
  own: Private,
  run_id: string,
  ends: { base: string; result: string },
): Promise<TreeResult<object>> {
  const stdin = (['base', 'result'] as const).map((end) => `update ${hidden(run_id, end)} ${ends[end]}\n`).join('')
  const run = await own.git().run(['update-ref', '--stdin'], { stdin })
  return run.ok ? { ok: true } : asTreeFault(run)
}

export async function recall(own: Private, run_id: string): Promise<TreeResult<{ base: string; result: string }>> {
  const base = await commitOf(own.git(), hidden(run_id, 'base'))
  if (!base.ok) return base
  const result = await commitOf(own.git(), hidden(run_id, 'result'))
  if (!result.ok) return result
  if (base.commit !== null && result.commit !== null) return { ok: true, base: base.commit, result: result.commit }
  return fault('missing', `nothing is kept of what the run ${run_id} did`)
}

export async function forget(own: Private, run_id: string): Promise<TreeResult<object>> {
  const stdin = (['result', 'base'] as const).map((end) => `delete ${hidden(run_id, end)}\n`).join('')
  const run = await own.git().run(['update-ref', '--stdin'], { stdin })
  if (!run.ok) return asTreeFault(run)
  // While there are branches of the run, they need what they were built upon.
  const listed = await list(own)
  if (!listed.ok) return listed
  return listed.trees.some((tree) => tree.run_id === run_id) ? { ok: true } : unpin(own, run_id)
}

/** Lets go of the commit in the person's repository that a run began from, when there is nothing more to publish. */
export async function unpin(own: Private, run_id: string): Promise<TreeResult<object>> {
  if (own.person === null) return { ok: true }
  const unmarked = await own.git().run(['update-ref', '--stdin'], { stdin: `delete ${hidden(run_id, 'private')}\n` })
  if (!unmarked.ok) return asTreeFault(unmarked)
  const pinned = await commitOf(own.person.git, hidden(run_id, 'base'))
  if (!pinned.ok || pinned.commit === null) return pinned
  const gone = await own.person.git.run(['update-ref', '-d', hidden(run_id, 'base')])
  return gone.ok ? { ok: true } : asTreeFault(gone)
}
