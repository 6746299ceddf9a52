import type { ReactNode } from 'react'
import styles from './plan.module.css'

/** Something with a name. */
export function Block({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={styles.block}>
      <h3>{name}</h3>
      {children}
    </section>
  )
}

/** Lines with a name; nothing where there is none. */
export function Lines({ name, lines, mono = false }: { name: string; lines: readonly string[]; mono?: boolean }) {
  if (lines.length === 0) return null
  return (
    <Block name={name}>
      <ul className={mono ? styles.paths : styles.lines}>
        {lines.map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same line can be there twice, and none moves
          <li key={i}>{line}</li>
        ))}
      </ul>
    </Block>
  )
}

/** What code looked at and what it found. */
export function Found({ passed, children }: { passed: boolean; children: ReactNode }) {
  return (
    <div className={styles.found}>
      <span className={passed ? styles.good : styles.bad}>
        <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
        <span className="visually-hidden">{passed ? 'passed: ' : 'failed: '}</span>
      </span>
      <div>{children}</div>
    </div>
  )
}
