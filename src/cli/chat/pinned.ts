import { PIN_SCOPES, type PinScope, pinRecordId, pinSchema, REGISTRY_ID, workspaceId } from '../../index.js'
import type { Room } from './room.js'

type Here = Pick<Room, 'retinue' | 'control' | 'conversation'>

/**
 * The pin that the next run has, for showing it: whether it can hold is found out by the run. Looking at what is on the
 * screen anyway is no command, so that nothing of it is in the control log.
 */
export async function pinInEffect({
  retinue,
  control,
  conversation,
}: Here): Promise<{ scope: PinScope; profile: string } | null> {
  const place = {
    session: conversation.session_id,
    user: control.principal.id,
    workspace: workspaceId(retinue.cwd),
  }
  for (const scope of PIN_SCOPES) {
    const id = pinRecordId(scope, place)
    const record = id === null ? null : await retinue.store.record('policy', id)
    const pin = pinSchema.safeParse(record?.value)
    if (pin.success) return { scope, profile: pin.data.profileId }
  }
  return null
}

/** The handles that there are, with what each is good for. */
export async function handles({ retinue }: Pick<Here, 'retinue'>): Promise<{ name: string; note: string }[]> {
  const record = await retinue.store.record('policy', REGISTRY_ID)
  const { agents = [] } = (record?.value ?? {}) as { agents?: { agentId: string; description: string }[] }
  return agents.map(({ agentId, description }) => ({ name: agentId, note: description }))
}
