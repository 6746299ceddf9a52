import { type RefObject, useEffect } from 'react'
import type { Keys } from '../../parts/keys-dialog'
import { isTaken } from '../../parts/taken-keys'

type Given = { search: RefObject<HTMLInputElement | null>; begin: () => void; help: () => void }

export const RUNS_KEYS: Keys = [
  ['j k', 'go from run to run, as ↓ and ↑ do in the list'],
  ['Enter', 'open the run'],
  ['/', 'search'],
  ['Esc', 'leave the search, or close what is in front'],
  ['n', 'start a new run'],
]

/** What a row's link is found by: rows come and go as one scrolls, and the focus is what says where one is. */
export const ROW_LINK = 'data-run-row'

/** `/` to search, `n` for a new run and `?` for help, from wherever no text is written. */
export function useKeys({ search, begin, help }: Given): void {
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (isTaken(event)) return
      if (event.key === '/') search.current?.focus()
      else if (event.key === 'n') begin()
      else if (event.key === '?') help()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', take)
    return () => document.removeEventListener('keydown', take)
  }, [search, begin, help])
}
