import { type ControlRecord, profileFaults, profileSchema } from '../../domain/index.js'
import { underOwnNames } from '../config/resolve-delegation.js'
import type { ToolName } from '../config/surroundings.js'
import type { FoundProfile } from './found.js'

/** A `profile` record of the store. One that was not written by this version may not be understood by it. */
export function storedProfile({ id, version, value }: ControlRecord, tools: readonly ToolName[]): FoundProfile {
  const found = { name: id, source: { kind: 'store', version } as const, notes: [], kept: {} }
  const parsed = profileSchema.safeParse(value)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    return { ...found, profile: null, fault: `its record in the store makes no sense: ${faults.join('; ')}` }
  }
  const [fault] = profileFaults(parsed.data)
  if (fault) return { ...found, profile: null, fault: `its record in the store makes no sense: ${fault.message}` }
  return { ...found, profile: underOwnNames(parsed.data, tools), fault: null }
}
