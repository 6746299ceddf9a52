/** `before`: those that must be done first. `apart`: those that must not be at work at the same time, in whatever order. */
export type Piece = { takes: number; before: readonly number[]; apart: readonly number[] }

/**
 * The shortest time in which `limit` at once can do it all. Exhaustive: whatever is best, its pieces begin in some order,
 * and giving them in that order each to who is free first is no worse.
 */
export function shortest(pieces: readonly Piece[], limit: number): number {
  const tails = tailsOf(pieces)
  const total = pieces.reduce((sum, { takes }) => sum + takes, 0)
  const least = leastTime(pieces, limit)
  let best = total
  const done: (number | undefined)[] = pieces.map(() => undefined)
  const search = (free: readonly number[], placed: number, end: number, left: number): void => {
    if (placed === pieces.length) {
      best = Math.min(best, end)
      return
    }
    const idle = free.reduce((sum, at) => sum + Math.min(at, best), 0)
    if (Math.max(end, (idle + left) / limit) >= best) return
    for (const [i, { takes, before, apart }] of pieces.entries()) {
      if (best <= least) return
      if (done[i] !== undefined || before.some((one) => done[one] === undefined)) continue
      const [first = 0, ...others] = free
      const begins = [...before, ...apart].reduce((at, one) => Math.max(at, done[one] ?? 0), first)
      if (begins + (tails[i] ?? 0) >= best) continue
      done[i] = begins + takes
      const next = [...others, begins + takes].sort((a, b) => a - b)
      search(next, placed + 1, Math.max(end, begins + takes), left - takes)
      done[i] = undefined
    }
  }
  search(
    Array.from({ length: limit }, () => 0),
    0,
    0,
    total,
  )
  return best
}

/** What no order can beat: the longest way through, and the work divided by how many are at it. */
export function leastTime(pieces: readonly Piece[], limit: number): number {
  const total = pieces.reduce((sum, { takes }) => sum + takes, 0)
  return Math.max(...tailsOf(pieces), Math.ceil(total / limit))
}

/** Of each piece: how long it takes with the longest way after it. Pieces come after what they come after. */
function tailsOf(pieces: readonly Piece[]): number[] {
  const tails = pieces.map(({ takes }) => takes)
  for (let i = pieces.length - 1; i >= 0; i--) {
    for (const one of pieces[i]?.before ?? []) {
      tails[one] = Math.max(tails[one] ?? 0, (pieces[one]?.takes ?? 0) + (tails[i] ?? 0))
    }
  }
  return tails
}
