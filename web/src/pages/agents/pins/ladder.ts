import { PIN_SCOPES, type PinPlace, type PinScope, parsePinRecordId, pinRecordId, scopeInWords } from '#domain'
import type { PinView } from '../data'

/** One scope as it is from where somebody looks. `says`: whether its pin counts, and why. */
export type Rung = {
  scope: PinScope
  pin: PinView | null
  holds: boolean
  says: string
}

type Seen = { pins: PinView[]; in_effect: PinView | null }

/** The four scopes, the strongest first, with why each counts or does not. */
export function ladder({ pins, in_effect }: Seen, place: PinPlace): Rung[] {
  return PIN_SCOPES.map((scope) => {
    const id = pinRecordId(scope, place)
    const pin = pins.find(({ record_id }) => record_id === id) ?? null
    const holds = pin !== null && pin.record_id === in_effect?.record_id
    return { scope, pin, holds, says: id === null ? NO_SESSION : standing({ scope, pin, holds }, in_effect, place) }
  })
}

const NO_SESSION = 'Choose a session to see what is pinned for it.'

function standing({ scope, pin, holds }: Omit<Rung, 'says'>, in_effect: PinView | null, place: PinPlace): string {
  if (pin === null) return `Nothing is pinned ${scopeInWords(scope, null)}.`
  if (!holds) {
    const stronger = in_effect === null ? 'another one' : `the pin ${scopeInWords(in_effect.scope, null)}`
    return `Not in effect here: ${stronger} is stronger.`
  }
  if (pin.fault !== null) return 'It is the strongest that is there, so runs fail: no weaker pin is taken instead.'
  const stronger = PIN_SCOPES.slice(0, PIN_SCOPES.indexOf(scope))
    .filter((other) => pinRecordId(other, place) !== null)
    .map((other) => scopeInWords(other, null))
  const why = stronger.length === 0 ? 'none is stronger here' : `nothing is pinned ${stronger.join(' or ')}`
  return `In effect: ${why}.`
}

/** Those that hold for others, or elsewhere. */
export function pinsElsewhere(pins: readonly PinView[], place: PinPlace): PinView[] {
  const here = new Set(PIN_SCOPES.map((scope) => pinRecordId(scope, place)))
  return pins.filter(({ record_id }) => !here.has(record_id))
}

/** For whom a pin holds, as whoever looks would say it. */
export function pinnedFor(pin: PinView, place: PinPlace): string {
  const of = parsePinRecordId(pin.record_id)?.of ?? null
  const is_here = pinRecordId(pin.scope, place) === pin.record_id
  return scopeInWords(pin.scope, is_here ? null : of)
}

/** What is pinned: the handle where there is one, as it was asked for. */
export function pinnedName({ handle, profile_id }: PinView): string {
  return handle ?? profile_id
}
