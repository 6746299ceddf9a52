import { useCallback, useMemo, useState } from 'react'
import { panned, type View, zoomed } from './scale'

export type Looking = {
  view: View
  whole: View
  /** Whether all of the run is shown, and goes on to be as it grows. */
  fits: boolean
  zoom: (factor: number, where?: number) => void
  pan: (share: number) => void
  showAll: () => void
}

/** Which part of the run's time is looked at: all of it until somebody looks closer. `length`: of the run so far. */
export function useView(length: number): Looking {
  const whole = useMemo(() => ({ from: 0, to: Math.max(100, length) }), [length])
  const [chosen, setChosen] = useState<View | null>(null)
  const change = useCallback(
    (make: (view: View) => View) =>
      setChosen((view) => {
        const next = make(view ?? whole)
        return next.to - next.from >= whole.to - whole.from ? null : next
      }),
    [whole],
  )
  const zoom = useCallback(
    (factor: number, where = 0.5) => change((view) => zoomed(view, factor, where, whole)),
    [change, whole],
  )
  const pan = useCallback((share: number) => change((view) => panned(view, share, whole)), [change, whole])
  const showAll = useCallback(() => setChosen(null), [])
  return useMemo(
    () => ({ view: chosen ?? whole, whole, fits: chosen === null, zoom, pan, showAll }),
    [chosen, whole, zoom, pan, showAll],
  )
}
