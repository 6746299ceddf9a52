import type { AgentRegistry } from '#domain'

/** What was typed and not saved, with what it was typed upon. */
export type Draft = { version: number; base: string; text: string }

/** One for each folder: after a new start the same address may show another one. */
const key = (folder: string) => `retinue-registry-draft:${folder}`

export function readDraft(storage: Pick<Storage, 'getItem'>, folder: string): Draft | null {
  const kept = storage.getItem(key(folder))
  if (kept === null) return null
  try {
    const { version, base, text } = JSON.parse(kept) as Record<string, unknown>
    const is_draft = typeof version === 'number' && typeof base === 'string' && typeof text === 'string'
    return is_draft ? { version, base, text } : null
  } catch {
    return null
  }
}

/** null: there is nothing to keep any more. */
export function keepDraft(storage: Pick<Storage, 'setItem' | 'removeItem'>, folder: string, draft: Draft | null): void {
  try {
    if (draft === null) storage.removeItem(key(folder))
    else storage.setItem(key(folder), JSON.stringify(draft))
  } catch {
    // There is no room for it. It is still in the editor, and the browser asks before it closes the page.
  }
}

/** A registry as the editor has it, and as `retinue agents registry` prints it. */
export function registryText(value: AgentRegistry): string {
  return JSON.stringify(value, null, 2)
}
