import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react'
import { currentEntry, onEntry } from '../../../api/entry'
import styles from './panel.module.css'

/** Over all of the page, which cannot be reached meanwhile: the browser keeps the focus inside. */
export function Sheet({ label, close, children }: { label: string; close: () => void; children: ReactNode }) {
  const sheet = useRef<HTMLDialogElement>(null)
  const { missing } = useSyncExternalStore(onEntry, currentEntry)
  useEffect(() => {
    if (missing) return
    const shown = sheet.current
    shown?.showModal()
    return () => shown?.close()
  }, [missing])
  return (
    <dialog
      ref={sheet}
      className={`${styles.panel} ${styles.sheet}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        // Of the sheet itself, not of a dialog in front of it.
        if (event.target === sheet.current) close()
      }}
    >
      {children}
    </dialog>
  )
}
