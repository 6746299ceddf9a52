const LONGEST = 80

/** A text in one short line, for lists: the first line that says something. */
export function titleOf(text: string): string {
  const line = (text.trim().split(/\r?\n/, 1)[0] as string).trim()
  // By characters, because half of a surrogate pair is no text that can be stored.
  const characters = [...line]
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : line
}

/** What a run is about, in one line: the first paragraph of its task. */
export function aboutOf(task: string): string {
  return (task.trim().split(/\n\s*\n/, 1)[0] as string).trim().replace(/\s+/g, ' ')
}
