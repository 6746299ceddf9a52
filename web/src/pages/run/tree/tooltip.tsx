import { type PointerEvent, type RefObject, useImperativeHandle, useState } from 'react'
import { timeInWords } from '#domain'
import { KIND_WORDS, type Kind } from './kinds'
import { tickText } from './scale'
import styles from './tree.module.css'

type Shown = { x: number; y: number; words: string; lasted: string; when: string; others: number }
export type TooltipHandle = { over: (event: PointerEvent) => void; leave: () => void }

/** One for the whole tree, so that a pointer that moves renders nothing but this. */
export function Tooltip({ ref }: { ref: RefObject<TooltipHandle | null> }) {
  const [shown, setShown] = useState<Shown | null>(null)
  useImperativeHandle(ref, () => ({
    over: (event) => {
      const data = event.target instanceof HTMLElement ? event.target.dataset : {}
      if (data.kind === undefined) return setShown(null)
      const [from, to] = [Number(data.from), Number(data.to)]
      const step = to - from < 1_000 ? 10 : 100
      setShown({
        x: event.clientX,
        y: event.clientY,
        words: KIND_WORDS[data.kind as Kind],
        lasted: timeInWords(Math.round(to - from)),
        when: `${tickText(from, step)} to ${tickText(to, step)}`,
        others: Number(data.others),
      })
    },
    leave: () => setShown(null),
  }))
  if (!shown) return null
  const left = shown.x > window.innerWidth - 260
  return (
    <div
      className={styles.tooltip}
      style={{ top: shown.y + 16, ...(left ? { right: window.innerWidth - shown.x + 8 } : { left: shown.x + 12 }) }}
      aria-hidden="true"
    >
      <strong>{shown.words}</strong> {shown.lasted}
      <div className={styles.moment}>
        {shown.when}
        {shown.others > 0 && `, with ${shown.others} more`}
      </div>
    </div>
  )
}
