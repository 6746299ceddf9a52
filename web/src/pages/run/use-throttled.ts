import { useEffect, useRef, useState } from 'react'

/** A value that follows another one, but not more often than every so many milliseconds. */
export function useThrottled<T>(value: T, every: number): T {
  const [shown, setShown] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    const wait = Math.max(0, last.current + every - Date.now())
    const timer = window.setTimeout(() => {
      last.current = Date.now()
      setShown(value)
    }, wait)
    return () => window.clearTimeout(timer)
  }, [value, every])
  return shown
}
