import { useRef } from 'react'

/** Whether it was so at some time: the last events of a run come with its end, and are followed too. */
export function useEver(now: boolean): boolean {
  const ever = useRef(now)
  if (now) ever.current = true
  return ever.current
}
