import {
  type ControlRecord,
  isAtLeast,
  PIN_SCOPES,
  type Pin,
  type PinPlace,
  type PinScope,
  pinRecordId,
  quoted,
  scopeInWords,
} from '../../domain/index.js'
import { type ControlDone, type ControlRefusal, done, refused } from '../done.js'
import type { ControlPlace } from '../place.js'
import { resolveProfile } from '../profiles/catalog.js'
import { type PinView, viewOf } from './stored.js'

/** Others who pin in the same place at once. */
const TRIES = 20

export function pinPlace({ session_id, principal, workspace }: ControlPlace): PinPlace {
  return { session: session_id, user: principal.id, workspace }
}

/** `asked`: a profile, or a handle, which stands for what the registry says of it when the pin is used. */
export async function pinProfile(place: ControlPlace, asked: string, scope: PinScope): Promise<ControlDone<PinView>> {
  const id = await recordFor(place, scope)
  if (!id.ok) return id
  const catalog = await place.catalog()
  const resolved = resolveProfile(catalog, asked)
  if (!resolved.ok) return refused('not_found', resolved.message)
  const { entry } = resolved
  const value: Pin = { profileId: resolved.profile.name, ...(entry === null ? {} : { agentId: entry.agentId }) }
  const put = await retried(place, id.value, (expected_version) =>
    place.records.putRecord({ type: 'policy', id: id.value, value, by: place.principal.id, expected_version }),
  )
  if (!put.ok) return put
  const handle = entry === null ? '' : ` (${entry.agentId})`
  const where = scopeInWords(scope, null)
  return done(viewOf(put.value, catalog) as PinView, `The profile ${value.profileId}${handle} is pinned ${where}.`)
}

export async function unpinProfile(place: ControlPlace, scope: PinScope): Promise<ControlDone<PinView>> {
  const id = await recordFor(place, scope)
  if (!id.ok) return id
  const where = scopeInWords(scope, null)
  const before = await place.records.record('policy', id.value)
  const nothing = refused('not_found', `Nothing is pinned ${where}.`)
  if (before === null) return nothing
  const removed = await retried(place, id.value, (expected_version) =>
    place.records.deleteRecord({ type: 'policy', id: id.value, by: place.principal.id, expected_version }),
  )
  // Somebody else removed it meanwhile.
  if (!removed.ok) return (await place.records.record('policy', id.value)) === null ? nothing : removed
  const pin = viewOf(before, await place.catalog()) as PinView
  const what = pin.profile_id === '' ? 'The pin' : `The pin to ${pin.profile_id}`
  return done(pin, `${what} ${where} is removed.`)
}

/** The last that pins or unpins holds: there is nothing in a pin that another change could lose. */
async function retried(
  { records }: ControlPlace,
  id: string,
  attempt: (expected_version: number) => ReturnType<ControlPlace['records']['putRecord']>,
): Promise<ControlDone<ControlRecord>> {
  for (let tried = 0; tried < TRIES; tried++) {
    const result = await attempt((await records.record('policy', id))?.version ?? 0)
    if (result.ok) return done(result.record, '')
  }
  return refused('conflict', 'The pin is being changed by others all the time: try again.')
}

/** The record of a scope for whoever asks, if it is theirs to change. */
async function recordFor(place: ControlPlace, scope: PinScope): Promise<ControlDone<string>> {
  if (!PIN_SCOPES.includes(scope)) {
    return refused('input', `There is no scope ${quoted(scope)}: there are ${PIN_SCOPES.join(', ')}.`)
  }
  const fault = scope === 'session' ? await sessionFault(place) : null
  if (fault) return fault
  const id = pinRecordId(scope, pinPlace(place))
  // A bug or a principal that nobody checked: never a record that was not meant.
  if (id === null) return refused('input', `There is nobody for whom a pin with the scope ${scope} could hold.`)
  return done(id, '')
}

/** Why somebody may not pin or unpin in a session, or null. */
async function sessionFault({ session_id, session, principal }: ControlPlace): Promise<ControlRefusal | null> {
  if (session_id === null) {
    return refused('input', 'There is no session here: name its id, or pin with --user, --workspace or --global.')
  }
  const found = await session(session_id)
  // The same words for both to somebody who may not know which sessions there are.
  const is_own = found !== null && found.owner === principal.id
  if (!is_own && !isAtLeast(principal.role, 'operator')) {
    return refused(
      'denied',
      `Denied: the session ${session_id} is not one of ${principal.id}, who is ${principal.role}.`,
    )
  }
  return found === null ? refused('not_found', `There is no session ${session_id} in this store.`) : null
}
