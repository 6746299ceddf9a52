/** What was said before, oldest first, and where in it the person is. What was changed meanwhile is not lost. */
export type History = Readonly<{
  entries: readonly string[]
  /** The one that is in the input; as many as there are entries: the one that is being written. */
  at: number
  changed: ReadonlyMap<number, string>
}>

export function historyOf(entries: readonly string[]): History {
  return { entries, at: entries.length, changed: new Map() }
}

/** Goes to an older or a newer one; null where there is none. */
export function step(history: History, by: -1 | 1, text: string): { history: History; text: string } | null {
  return goTo(history, history.at + by, text)
}

export function goTo(history: History, at: number, text: string): { history: History; text: string } | null {
  const { entries } = history
  if (at < 0 || at > entries.length) return null
  const changed = new Map(history.changed).set(history.at, text)
  return { history: { entries, at, changed }, text: changed.get(at) ?? entries[at] ?? '' }
}

/** Something was said: it is the newest from now on, and what was changed in others is as it was. */
export function said(history: History, text: string): History {
  const { entries } = history
  return historyOf(entries.at(-1) === text ? entries : [...entries, text])
}

/** The newest entry older than `before` that has the words in it. */
export function findBefore(history: History, words: string, before: number): number | null {
  const looked_for = words.toLowerCase()
  for (let at = Math.min(before, history.entries.length) - 1; at >= 0; at--) {
    if ((history.entries[at] as string).toLowerCase().includes(looked_for)) return at
  }
  return null
}
