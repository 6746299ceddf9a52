import { HANDLE } from '../../index.js'

/** A message for an agent: `@writer make it shorter`. */
export type Addressed = { handle: string; text: string }

/** null: the message is addressed to nobody. `@src/a.ts` is a file. */
export function addressed(message: string): Addressed | null {
  const match = /^\s*(@\S+)(?:\s+([\s\S]*))?$/.exec(message)
  const handle = match?.[1] ?? ''
  return HANDLE.test(handle) ? { handle, text: (match?.[2] ?? '').trim() } : null
}
