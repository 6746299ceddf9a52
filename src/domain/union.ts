/** Both, each once; the first itself where nothing is added. */
export function union(a: string[], b: string[]): string[] {
  return b.length === 0 ? a : [...new Set([...a, ...b])]
}
