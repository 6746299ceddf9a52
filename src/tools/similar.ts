/** The names that are most like a wanted one, best first. Names with little in common are left out. */
export function similarNames(wanted: string, names: readonly string[], max: number): string[] {
  return names
    .map((name) => ({ name, score: similarity(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, max)
    .map(({ name }) => name)
}

/** How much two texts have in common, 0 to 1: the share of their pairs of neighbouring characters (Dice). */
export function similarity(a: string, b: string): number {
  if (a === b) return 1
  const pairs = new Map<string, number>()
  for (let i = 0; i + 1 < a.length; i++) pairs.set(a.slice(i, i + 2), (pairs.get(a.slice(i, i + 2)) ?? 0) + 1)
  let common = 0
  for (let i = 0; i + 1 < b.length; i++) {
    const left = pairs.get(b.slice(i, i + 2)) ?? 0
    if (left === 0) continue
    pairs.set(b.slice(i, i + 2), left - 1)
    common++
  }
  const total = a.length + b.length - 2
  return total > 0 ? (2 * common) / total : 0
}
