import type { Ref } from 'react'
import { Cell } from './cell'
import type { Tick } from './scale'
import styles from './tree.module.css'

/** A label needs so much room; the last has it on its other side. */
const LABEL_PX = 56

type Props = { ref: Ref<HTMLDivElement>; ticks: readonly Tick[]; width: number }

/** The time since the run began, above the bars. It can be dragged. */
export function Axis({ ref, ticks, width }: Props) {
  return (
    <Cell head ref={ref} className={styles.axis}>
      <span className="visually-hidden">time since the run began</span>
      {ticks.map(({ at, x, text }) => (
        <span
          key={at}
          className={`${styles.tick} ${x > width - LABEL_PX ? styles.last : ''}`}
          style={x > width - LABEL_PX ? { right: width - x } : { left: x }}
          aria-hidden="true"
        >
          {text}
        </span>
      ))}
    </Cell>
  )
}
