import type { Ref } from 'react'
import { Cell } from './cell'
import type { Tick } from './scale.js'
import styles from './tree.module.css'

/** The time since the run began, above the bars. It can be dragged. */
export function Axis({ ref, ticks }: { ref: Ref<HTMLDivElement>; ticks: readonly Tick[] }) {
  return (
    <Cell head ref={ref} className={styles.axis}>
      <span className="visually-hidden">time since the run began</span>
      {ticks.map(({ at, x, text }) => (
        <span key={at} className={styles.tick} style={{ left: x }} aria-hidden="true">
          {text}
        </span>
      ))}
    </Cell>
  )
}
