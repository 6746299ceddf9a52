/** So many are kept in mind: what is asked for most is asked for again and again while a run is under way. */
const MOST_KNOWN = 10_000

/** Keeps something in mind, and forgets what came first where that is too much. */
export function remember<K, T>(known: Map<K, T>, key: K, value: T): T {
  const [oldest] = known.keys()
  if (known.size >= MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  known.set(key, value)
  return value
}
