import { type RefObject, useEffect, useState } from 'react'
import { isTaken } from '../../parts/taken-keys'

/** Keys that mean the same wherever the focus is. `close`: what Escape does; null: there is nothing to close. */
export function usePageKeys({
  search,
  close,
}: {
  search: RefObject<HTMLInputElement | null>
  close: (() => void) | null
}) {
  const [help, setHelp] = useState(false)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTaken(event)) return
      if (event.key === '/') search.current?.focus()
      else if (event.key === '?') setHelp(true)
      else if (event.key === 'Escape' && close) close()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [search, close])
  return { help, setHelp }
}
