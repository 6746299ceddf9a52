import type { Retinue } from '../../index.js'

/** What routes keep for a Retinue: made when it is first asked for, and gone with it. */
export function perRetinue<T>(make: () => T): (retinue: Retinue) => T {
  const made = new WeakMap<Retinue, T>()
  return (retinue) => {
    const kept = made.get(retinue) ?? make()
    made.set(retinue, kept)
    return kept
  }
}
