import { type ReactNode, useEffect, useId, useRef, useSyncExternalStore } from 'react'
import { currentEntry, onEntry } from '../api/entry'
import { IconButton } from './button'
import styles from './dialog.module.css'

/** On the field that has the focus when the dialog opens. React's own way comes too early: nothing is shown by then. */
const FIRST = 'data-first'

type Props = { title: string; close: () => void; wide?: boolean; children: ReactNode }

/**
 * A window in front of the page for as long as it is rendered. The browser keeps the focus inside, gives it back to where
 * it was, and closes it on Escape; whoever renders it takes it away when `close` is called.
 */
export function Dialog({ title, close, wide = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useId()
  const { missing } = useSyncExternalStore(onEntry, currentEntry)
  useEffect(() => {
    // In front of a page that is not shown it would only keep others from being reached.
    if (missing) return
    const shown = dialog.current
    const before = document.activeElement
    shown?.showModal()
    shown?.querySelector<HTMLElement>(`[${FIRST}]`)?.focus()
    return () => {
      shown?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [missing])
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${wide ? styles.wide : ''}`}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <header className={styles.header}>
        <h2 id={name}>{title}</h2>
        <IconButton label="Close" onClick={close}>
          ✕
        </IconButton>
      </header>
      <div className={styles.body}>{children}</div>
    </dialog>
  )
}
