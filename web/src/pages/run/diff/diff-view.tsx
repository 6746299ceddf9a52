import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useMemo, useRef } from 'react'
import { countInWords, plural } from '#domain'
import styles from './diff.module.css'
import { type DiffLine, parseDiff } from './parse-diff'

const LINE_PX = 20
const FILE_PX = 34

/** What was changed, line by line; only the lines that are seen are there. `low`: there is more on the page than this. */
export function DiffView({ diff, low = false }: { diff: string; low?: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => parseDiff(diff), [diff])
  const files = useMemo(() => lines.flatMap((line, i) => (line.kind === 'file' ? [{ line, i }] : [])), [lines])
  const widest = useMemo(() => lines.reduce((most, line) => Math.max(most, textOf(line).length), 40), [lines])
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (lines[i]?.kind === 'file' ? FILE_PX : LINE_PX),
    overscan: 20,
  })
  return (
    <div className={styles.diff}>
      {files.length > 1 && (
        <ul className={styles.files} aria-label="Changed files">
          {files.map(({ line, i }) => (
            <li key={line.path}>
              <button
                type="button"
                className={styles.jump}
                onClick={() => virtual.scrollToIndex(i, { align: 'start' })}
              >
                {line.path} <Counts line={line} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section ref={box} className={`${styles.box} ${low ? styles.low : ''}`} tabIndex={0} aria-label="Diff">
        <div
          className={styles.lines}
          style={{ height: virtual.getTotalSize(), '--widest': `${widest}ch` } as CSSProperties}
        >
          {virtual.getVirtualItems().map(({ index, start, size }) => (
            <div key={index} className={styles.place} style={{ height: size, transform: `translateY(${start}px)` }}>
              <Line line={lines[index] as DiffLine} />
            </div>
          ))}
        </div>
      </section>
    </div>
  )
}

function Line({ line }: { line: DiffLine }) {
  if (line.kind === 'file') {
    return (
      <div className={styles.file}>
        <span className={styles.path}>{line.path}</span>
        {line.change !== 'modified' && <span className={styles.change}>{line.change}</span>}
        <Counts line={line} />
      </div>
    )
  }
  if (line.kind === 'hunk') return <div className={styles.hunk}>{line.text}</div>
  if (line.kind === 'note') return <div className={styles.remark}>{line.text}</div>
  const sign = { added: '+', removed: '-', same: ' ' }[line.kind]
  return (
    <div className={`${styles.line} ${styles[line.kind]}`}>
      <span className={styles.no}>{line.old ?? ''}</span>
      <span className={styles.no}>{line.new ?? ''}</span>
      <span className={styles.mark}>{sign}</span>
      <span>{line.text}</span>
    </div>
  )
}

function Counts({ line: { added, removed } }: { line: Extract<DiffLine, { kind: 'file' }> }) {
  return (
    <span className={styles.counts} title={`${plural(added, 'line')} added, ${countInWords(removed)} removed`}>
      <span className={styles.plus}>+{added}</span> <span className={styles.minus}>−{removed}</span>
    </span>
  )
}

function textOf(line: DiffLine): string {
  return line.kind === 'file' ? line.path : line.text
}
