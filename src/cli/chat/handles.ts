import { HANDLE } from '../../index.js'

/** A message for an agent: `@writer make it shorter`. `word`: the first word as it was written. */
export type Addressed = { handle: string; word: string; text: string }

/** null: the message is addressed to nobody. `@src/a.ts` is a file. `@Writer,` and `@writer:` mean `@writer`. */
export function addressed(message: string): Addressed | null {
  const [, word = '', text = ''] = /^\s*(@\S+)(?:\s+([\s\S]*))?$/.exec(message) ?? []
  const handle = word.replace(/[:,]+$/, '').toLowerCase()
  return HANDLE.test(handle) ? { handle, word, text: text.trim() } : null
}
