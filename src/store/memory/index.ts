import type { Store } from '../store.js'
import { MemoryStore } from './store.js'

/** The same behaviour as a database, gone with the process. For tests and for runs that need no past. */
export function createMemoryStore({ clock }: { clock: { now(): number } }): Store {
  return new MemoryStore(clock)
}
