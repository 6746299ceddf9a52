import { createHash } from 'node:crypto'
import type { Records } from '../../domain/index.js'
import {
  type ControlRecord,
  type NamedProfile,
  PIN_SCOPES,
  type PinPlace,
  type PinScope,
  parsePinRecordId,
  pinRecordId,
  pinSchema,
  plainLine,
  quoted,
  type RegistryEntry,
  scopeInWords,
} from '../../domain/index.js'
import { type Catalog, resolveProfile } from '../profiles/catalog.js'

/** A pin as it is stored. `fault`: why it cannot hold. */
export type PinView = {
  scope: PinScope
  record_id: string
  /** Where a handle is pinned: the profile that it has now. */
  profile_id: string
  /** null: the profile itself is pinned. */
  handle: string | null
  fault: string | null
  by: string
  at: number
}

export type EffectivePin =
  /** null: nothing is pinned. */
  | { ok: true; pinned: { pin: PinView; profile: NamedProfile; entry: RegistryEntry | null } | null }
  /** The strongest pin cannot hold: which, why, and how it is removed. No weaker one is taken instead. */
  | { ok: false; pin: PinView; message: string }

/** What a folder is called in the ids of records: a digest of its real path. */
export function workspaceId(real_path: string): string {
  return createHash('sha256').update(real_path).digest('hex').slice(0, 16)
}

/** Every pin in the store, in the order of scopes and ids. */
export async function listPins(records: Pick<Records, 'records'>, catalog: Catalog): Promise<PinView[]> {
  const pins = (await records.records('policy')).flatMap((record) => viewOf(record, catalog) ?? [])
  const order = ({ scope }: PinView) => PIN_SCOPES.indexOf(scope)
  return pins.sort((a, b) => order(a) - order(b) || (a.record_id < b.record_id ? -1 : 1))
}

/** The pin that holds in a place: session before user before workspace before global. */
export async function effectivePin(
  records: Pick<Records, 'record'>,
  place: PinPlace,
  catalog: Catalog,
): Promise<EffectivePin> {
  for (const scope of PIN_SCOPES) {
    const id = pinRecordId(scope, place)
    const record = id === null ? null : await records.record('policy', id)
    const pin = record && viewOf(record, catalog)
    if (!pin) continue
    const resolved = pin.fault === null ? resolveProfile(catalog, pin.handle ?? pin.profile_id) : null
    if (resolved?.ok) return { ok: true, pinned: { pin, profile: resolved.profile, entry: resolved.entry } }
    const why = pin.fault ?? resolved?.message
    return { ok: false, pin, message: `The pin ${inWords(pin)} cannot be used: ${why} ${howToUnpin(pin)}` }
  }
  return { ok: true, pinned: null }
}

/** null for a policy that is no pin. */
export function viewOf({ id, value, by, at }: ControlRecord, catalog: Catalog): PinView | null {
  const parsed = parsePinRecordId(id)
  if (parsed === null) return null
  const pin = pinSchema.safeParse(value)
  const pinned = { scope: parsed.scope, record_id: id, by, at }
  if (!pin.success) return { ...pinned, profile_id: '', handle: null, fault: 'its record in the store makes no sense.' }
  const { profileId, agentId } = pin.data
  if (agentId === undefined) {
    return { ...pinned, profile_id: profileId, handle: null, fault: profileFault(profileId, catalog) }
  }
  // Never its profile without it: the limits that the registry sets for it would be gone with it.
  const entry = catalog.agents.get(agentId)
  const fault = entry ? profileFault(entry.profileId, catalog) : `there is no agent ${quoted(agentId)} any more.`
  return { ...pinned, profile_id: entry?.profileId ?? profileId, handle: agentId, fault }
}

/** Why a profile that somebody named earlier cannot be used, as a sentence, or null. */
export function profileFault(name: string, catalog: Catalog): string | null {
  const found = catalog.profiles.get(name)
  if (!found) return `there is no profile ${quoted(name)} any more.`
  if (found.profile !== null) return null
  const fault = plainLine(found.fault)
  return `the profile ${name} is broken: ${fault}${/[.!?]$/.test(fault) ? '' : '.'}`
}

function inWords({ scope, profile_id, handle, record_id }: PinView): string {
  const what = profile_id === '' ? '' : ` to ${quoted(handle ?? profile_id)}`
  const of = scope === 'workspace' ? null : (parsePinRecordId(record_id)?.of ?? null)
  return `${scopeInWords(scope, of)}${what}`
}

function howToUnpin({ scope, record_id }: PinView): string {
  const of = scope === 'session' ? ` ${parsePinRecordId(record_id)?.of}` : ''
  return `Pin another profile, or remove the pin with: retinue agents unpin --${scope}${of} (in a chat: /agents unpin --${scope}).`
}
