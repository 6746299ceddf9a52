import type { Adjustment, Contract } from './contract.js'
import type { DelegationRequest } from './delegation.js'
import type { NamedProfile } from './derive.js'

type Labelled = { ok: true; label: string | null; adjustments: Adjustment[] } | { ok: false; message: string }

/**
 * Which workers may have a sub-agent. It stays where its parent is bound to, what its profile says stands over what was
 * asked for, and one that would need to be in two places is refused: in either it would lack the other.
 */
export function childLabel(
  above: Contract,
  profile: NamedProfile | null,
  { label: asked }: Pick<DelegationRequest, 'label'>,
): Labelled {
  const own = profile?.profile.label
  const bound = above.execution.label
  const wanted = own ?? asked
  if (bound !== undefined && wanted !== undefined && wanted !== bound) {
    const message = `Not spawned: it needs a worker with the label ${wanted}, and its parent is bound to those with ${bound}.`
    return { ok: false, message }
  }
  const overruled = own !== undefined && asked !== undefined && asked !== own
  const reason = `the profile ${profile?.name} has a label of its own`
  const adjustments = overruled ? [{ field: 'execution.label', asked, given: own, reason }] : []
  return { ok: true, label: bound ?? wanted ?? null, adjustments }
}
