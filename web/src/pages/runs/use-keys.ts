import { type RefObject, useEffect } from 'react'

type Keys = { search: RefObject<HTMLInputElement | null>; begin: () => void }

/** What a row's link is found by: rows come and go as one scrolls, and the focus is what says where one is. */
export const ROW_LINK = 'data-run-row'

/** `/` to search and `n` for a new run, from wherever no text is written. */
export function useKeys({ search, begin }: Keys): void {
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (isTaken(event)) return
      if (event.key === '/') search.current?.focus()
      else if (event.key === 'n') begin()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', take)
    return () => document.removeEventListener('keydown', take)
  }, [search, begin])
}

/** Whether a key is for something else: a field, the browser, or a dialog that is in front. */
export function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null
}
