/**
 * How the server takes whoever looks. `missing`: it has said that it does not know them. `refused`: why it did not take
 * the key that was in the address, and how to offer it again.
 */
export type Entry = { missing: boolean; refused: { error: Error; again: () => void } | null }

let entry: Entry = { missing: false, refused: null }
const listeners = new Set<() => void>()

export const currentEntry = (): Entry => entry

export function changeEntry(changed: Partial<Entry>): void {
  const next = { ...entry, ...changed }
  if (next.missing === entry.missing && next.refused === entry.refused) return
  entry = next
  for (const listener of [...listeners]) listener()
}

export function onEntry(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
