import { useSyncExternalStore } from 'react'

/** Whether there is room for a graph beside a panel. */
const WIDE = '(min-width: 721px)'

export function useWide(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = window.matchMedia(WIDE)
      query.addEventListener('change', changed)
      return () => query.removeEventListener('change', changed)
    },
    () => window.matchMedia(WIDE).matches,
  )
}
