import type { ReactNode } from 'react'
import { Button } from './button'
import styles from './states.module.css'

/** There is nothing here: why, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <h1>{title}</h1>
      {children && <div>{children}</div>}
    </div>
  )
}

/** Something did not work: what, and a way to try it again. */
export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div className={`${styles.state} ${styles.failure}`} role="alert">
      <h1>That did not work</h1>
      <p>{error.message}</p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

export function Loading({ what }: { what: string }) {
  return (
    <div className={styles.state} role="status">
      Loading {what} …
    </div>
  )
}
