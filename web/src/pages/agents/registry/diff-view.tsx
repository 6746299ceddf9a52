import { useEffect, useRef } from 'react'
import { openDiff, openText } from './editor'
import styles from './registry.module.css'

/** What was changed from one text to another; `before` null: the text alone. */
export function DiffView({ label, before, after }: { label: string; before: string | null; after: string }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = place.current
    if (!parent) return
    const view = before === null ? openText(parent, label, after) : openDiff(parent, label, before, after)
    return () => view.destroy()
  }, [label, before, after])
  if (before === after) return <p className={styles.same}>There is no difference.</p>
  return <div ref={place} className={styles.diff} />
}
