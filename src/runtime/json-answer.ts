/** The JSON in an answer; undefined: there is none. Models like to wrap it in a fenced block, with words before it. */
export function jsonIn(text: string): unknown {
  const blocks = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map((match) => match[1] as string)
  for (const candidate of [text, ...blocks.reverse()]) {
    try {
      return JSON.parse(candidate)
    } catch {
      // The next one may be it.
    }
  }
  return undefined
}
