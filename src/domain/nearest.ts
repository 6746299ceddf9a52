/** The candidate that somebody who typed `word` most likely meant, or null when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const typed = plain(word.slice(0, 64))
  let best: string | null = null
  let least = Math.floor(typed.length / 3) + 1
  for (const candidate of candidates) {
    const steps = distance(typed, plain(candidate))
    if (steps < least) {
      best = candidate
      least = steps
    }
  }
  return best
}

/** `toolCalls`, `tool-calls` and `tool_calls` are the same word to a person. */
export function plain(word: string): string {
  return word.toLowerCase().replace(/[_\-\s]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let steps = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        steps = Math.min(steps, at(beforeLast, j - 2) + 1)
      }
      row.push(steps)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
