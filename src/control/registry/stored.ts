import type { Records } from '../../domain/index.js'
import {
  type AgentRegistry,
  type ControlRecord,
  faultsInWords,
  NO_AGENTS,
  REGISTRY_ID,
  readRegistry,
} from '../../domain/index.js'
import { type ControlDone, done, refused } from '../done.js'

/** `version` 0: there is no record. */
export type StoredRegistry = { version: number; value: AgentRegistry }

/** The registry of a store. Whether its agents' profiles are still there is asked where they are used. */
export async function loadRegistry(records: Pick<Records, 'record'>): Promise<ControlDone<StoredRegistry>> {
  return storedRegistry(await records.record('policy', REGISTRY_ID))
}

export function storedRegistry(record: ControlRecord | null): ControlDone<StoredRegistry> {
  if (record === null) return said({ version: 0, value: NO_AGENTS })
  const read = readRegistry(record.value, null)
  if (read.ok) return said({ version: record.version, value: read.value })
  return refused(
    'corrupt',
    `The agent registry in the store makes no sense (its record has version ${record.version}): ` +
      `${faultsInWords(read.faults)}\nReplace it with: retinue agents registry --set <file> --expect ${record.version}`,
  )
}

function said(stored: StoredRegistry): ControlDone<StoredRegistry> {
  const { length } = stored.value.agents
  return done(stored, `${length === 1 ? '1 agent' : `${length} agents`}, version ${stored.version} of the registry.`)
}
