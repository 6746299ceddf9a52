import { join } from 'node:path'
import { isDatabaseUrl, storeAddressFault } from '../../domain/index.js'
import { isWithin, machinePath, machinePathFault } from './paths.js'
import type { Places } from './surroundings.js'

/** Why a text cannot name a store, which is a place on this machine or a database, or null. */
export function storeNameFault(store: string): string | null {
  return storeAddressFault(store) ?? machinePathFault(store)
}

/** A store with nothing left open: an absolute path, or the URL of a database. */
export function storeOf(store: string, places: Places): string {
  return isDatabaseUrl(store) ? store : machinePath(store, places)
}

/** A log that agents could write would prove nothing, and inside the project only .retinue is out of their reach. */
export function storeFault(store: string, { project_dir }: Places): string | null {
  if (isDatabaseUrl(store) || !isWithin(project_dir, store)) return null
  const folder = join(project_dir, '.retinue')
  if (store !== folder && isWithin(folder, store)) return null
  return 'store must be a file below .retinue, or outside the project folder'
}

/** The store that the environment names; null where it names none. */
export function environmentStore(
  env: Readonly<Record<string, string | undefined>>,
  places: Places,
): { ok: true; store: string } | { ok: false; message: string } | null {
  const named = (env.RETINUE_STORE ?? '').trim()
  if (named === '') return null
  const message = storeNameFault(named) ?? storeFault(storeOf(named, places), places)
  return message === null ? { ok: true, store: storeOf(named, places) } : { ok: false, message }
}
