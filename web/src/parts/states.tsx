import type { ReactNode } from 'react'
import { Button } from './button'
import styles from './states.module.css'

/** `below`: within a page that has a heading already. */
type Placed = { below?: boolean }

/** There is nothing here: why, and what to do about it. */
export function Empty({ title, below = false, children }: Placed & { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <Heading below={below}>{title}</Heading>
      {children && <div>{children}</div>}
    </div>
  )
}

/** Something did not work: what, and a way to try it again. */
export function Failure({ error, below = false, retry }: Placed & { error: Error; retry?: () => void }) {
  return (
    <div className={`${styles.state} ${styles.failure}`} role="alert">
      <Heading below={below}>That did not work</Heading>
      <p>{error.message}</p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

function Heading({ below, children }: Placed & { children: string }) {
  return below ? <h2>{children}</h2> : <h1>{children}</h1>
}

export function Loading({ what }: { what: string }) {
  return (
    <div className={styles.state} role="status">
      Loading {what} …
    </div>
  )
}
