import { memo } from 'react'
import { type Span, type Stretch, timeInWords } from '#domain'
import styles from './bar.module.css'
import { KIND_WORDS } from './kinds'
import { type View, xOf } from './scale'
import { lastedOf, segmentsOf } from './segments'

type Props = {
  spans: readonly Span[]
  /** Changes when the spans do. */
  grown: number
  path: readonly Stretch[]
  origin: number
  now: number
  view: View
  width: number
}

/** What one agent did when. What a piece means is said by the one tooltip of the tree, from the attributes it has. */
export const Bar = memo(function Bar({ spans, path, origin, now, view, width }: Props) {
  if (width <= 0) return null
  return (
    <div className={styles.bar} role="img" aria-label={inWords(spans, now)}>
      {segmentsOf(spans, { origin, now, view, width }).map(({ kind, from, to, x, width: wide, others }) => (
        <span
          key={`${kind} ${from}`}
          className={`${styles.piece} ${styles[kind]}`}
          style={{ left: x, width: wide }}
          data-kind={kind}
          data-from={from}
          data-to={to}
          data-others={others}
        />
      ))}
      {path.map(({ from, to }) => {
        const x = Math.max(0, xOf(from - origin, view, width))
        const end = Math.min(width, xOf(to - origin, view, width))
        if (end < 0 || x > width || end <= x) return null
        return <span key={from} className={styles.critical} style={{ left: x, width: Math.max(1, end - x) }} />
      })}
    </div>
  )
})

function inWords(spans: readonly Span[], now: number): string {
  const lasted = lastedOf(spans, now)
  return lasted.map(({ kind, ms }) => `${KIND_WORDS[kind]} ${timeInWords(Math.round(ms))}`).join(', ') || 'not begun'
}
