import { currentEntry } from '../api/entry'

/** Whether a key is for something else than the page: a field, the browser, or a dialog that is in front. */
export function isTaken(event: KeyboardEvent): boolean {
  if (currentEntry().missing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null
}
