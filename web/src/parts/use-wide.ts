import { useCallback, useSyncExternalStore } from 'react'

/** Whether the window is at least so many pixels wide. */
export function useWide(pixels: number): boolean {
  const query = `(min-width: ${pixels}px)`
  const subscribe = useCallback(
    (changed: () => void) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', changed)
      return () => media.removeEventListener('change', changed)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}
