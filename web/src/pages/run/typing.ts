/** Whether a key was pressed to write something, or in a dialog: then it is no command of the page. */
export function typing({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null
}
