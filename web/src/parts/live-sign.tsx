import type { Connection } from '../api/live'
import styles from './live-sign.module.css'

const WORDS: Record<Connection, string> = {
  connecting: 'connecting …',
  live: 'live',
  lost: 'connection lost, trying again …',
  busy: 'too many windows are open, trying again …',
  ended: 'ended',
}

/** Whether what is shown is what is. */
export function LiveSign({ connection }: { connection: Connection }) {
  return (
    <span className={`${styles.sign} ${styles[connection]}`} role="status">
      <span className={styles.dot} aria-hidden="true" />
      {WORDS[connection]}
    </span>
  )
}
