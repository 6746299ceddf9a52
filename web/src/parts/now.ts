import { useEffect, useState } from 'react'

/** The time, again every so often, for ages and bars that grow. `every` null: as it is now. */
export function useNow(every: number | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (every === null) return
    const timer = window.setInterval(() => setNow(Date.now()), every)
    return () => window.clearInterval(timer)
  }, [every])
  return now
}
