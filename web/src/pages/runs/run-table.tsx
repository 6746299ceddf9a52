import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { RunSummary } from '../../parts/library'
import { useNow } from '../../parts/now'
import { isTaken } from '../../parts/taken-keys'
import { RunRow } from './run-row'
import styles from './run-table.module.css'
import { ROW_LINK } from './use-keys'

const COLUMNS = ['Status', 'Task', 'Agents', 'Turns / calls', 'Tokens', 'Cost', 'Time', 'Age'] as const

/** Only those rows are there that can be seen, and some around them. */
export function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), [])
  const rows = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => 54,
    getItemKey: (index) => runs[index]?.run_id ?? index,
    overscan: 8,
    scrollMargin: top,
    // Below the header of the page, which stays.
    scrollPaddingStart: 64,
    scrollPaddingEnd: 16,
  })
  // Seconds are only counted where one can see them pass.
  const now = useNow(runs.some(({ status }) => status === 'running') ? 1_000 : 15_000)
  useMoving(list, runs.length, (index) => rows.scrollToIndex(index))
  return (
    // A table of a few rows out of many can only be said to be one by its roles.
    // biome-ignore lint/a11y/useSemanticElements: rows are placed by where they are in the whole
    <div role="table" aria-label="Runs" aria-rowcount={runs.length + 1} className={styles.table} ref={list}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="row" aria-rowindex={1} className={`${styles.columns} ${styles.names}`} tabIndex={-1}>
        {COLUMNS.map((name) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          <span key={name} role="columnheader" tabIndex={-1}>
            {name}
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className={styles.rows} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => {
          const run = runs[index]
          if (!run) return null
          return (
            <RunRow
              key={key}
              {...{ run, index, now }}
              place={rows.measureElement}
              style={{ transform: `translateY(${start - top}px)` }}
            />
          )
        })}
      </div>
    </div>
  )
}

/** j and k, and the arrows within the list, go from row to row. */
function useMoving(list: React.RefObject<HTMLDivElement | null>, count: number, show: (index: number) => void): void {
  const latest = useRef({ count, show })
  latest.current = { count, show }
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (isTaken(event)) return
      const at = document.activeElement?.getAttribute(ROW_LINK) ?? null
      const arrows = at !== null || document.activeElement === document.body || document.activeElement?.id === 'main'
      const down = event.key === 'j' || (arrows && event.key === 'ArrowDown')
      const up = event.key === 'k' || (arrows && event.key === 'ArrowUp')
      if (!down && !up) return
      event.preventDefault()
      const next = at === null ? 0 : Number(at) + (down ? 1 : -1)
      if (next < 0 || next >= latest.current.count) return
      latest.current.show(next)
      focusRow(list.current, next)
    }
    document.addEventListener('keydown', take)
    return () => document.removeEventListener('keydown', take)
  }, [list])
}

/** A row that was not there is there after the next frames. */
function focusRow(list: HTMLDivElement | null, index: number, tries = 10): void {
  const link = list?.querySelector<HTMLElement>(`[${ROW_LINK}="${index}"]`)
  if (link) link.focus({ preventScroll: true })
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1))
}
