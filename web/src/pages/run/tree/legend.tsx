import { memo } from 'react'
import barStyles from './bar.module.css'
import { KIND_WORDS, type Kind, LEGEND } from './kinds'
import styles from './tree.module.css'

/** What the pieces of bars look like, and what they mean: of those kinds that there are. */
export const Legend = memo(function Legend({ kinds, live }: { kinds: ReadonlySet<Kind>; live: boolean }) {
  return (
    <ul className={styles.legend} aria-label="What the bars mean">
      {LEGEND.filter((kind) => kinds.has(kind)).map((kind) => (
        <li key={kind}>
          <span className={barStyles.sample} aria-hidden="true">
            <span className={`${barStyles.piece} ${barStyles[kind]}`} />
          </span>
          {KIND_WORDS[kind]}
        </li>
      ))}
      <li>
        <span className={barStyles.sample} aria-hidden="true">
          <span className={barStyles.critical} />
        </span>
        critical path: what the end {live ? 'waits' : 'waited'} for
      </li>
    </ul>
  )
})
