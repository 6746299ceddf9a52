/** Parts over a base, a later one over an earlier one, key by key; undefined says nothing. */
export function together<T extends object>(
  base: T,
  parts: readonly ({ [K in keyof T]?: T[K] | undefined } | undefined)[],
): T {
  const given = parts.flatMap((part) => Object.entries(part ?? {}).filter(([, value]) => value !== undefined))
  return { ...base, ...Object.fromEntries(given) }
}
