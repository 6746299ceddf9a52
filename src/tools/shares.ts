/**
 * How many characters each of several texts gets of a room: all that it has where it is short, and what the short ones
 * leave over is for the long ones. None gets more than `most`.
 */
export function fairShares(lengths: readonly number[], room: number, most: number): number[] {
  const shares = new Array<number>(lengths.length).fill(0)
  let left = Math.max(0, room)
  const shortestFirst = [...lengths.keys()].sort((a, b) => (lengths[a] as number) - (lengths[b] as number))
  for (const [done, i] of shortestFirst.entries()) {
    const fair = Math.floor(left / (lengths.length - done))
    shares[i] = Math.min(lengths[i] as number, fair, most)
    left -= shares[i] as number
  }
  return shares
}
