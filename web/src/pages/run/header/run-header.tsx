import { useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { ageInWords } from '#domain'
import type { RunDetail } from '#wire'
import { at } from '../../../api/client'
import { useMayOperate } from '../../../api/queries'
import { Button } from '../../../parts/button'
import { LiveSign } from '../../../parts/live-sign'
import { useNow } from '../../../parts/now'
import { RunStatus } from '../../../parts/status'
import type { RunStore } from '../run-store'
import { useWidth } from '../use-width'
import { RunActions } from './actions'
import { Figures } from './figures'
import styles from './header.module.css'

type Props = { store: RunStore; version: number; detail: RunDetail; show: (what: 'report' | 'diff') => void }

/** What was asked for, how it stands, what it has cost, and what can be done about it. */
export function RunHeader({ store, version, detail, show }: Props) {
  const { run, result } = detail
  const may = useMayOperate()
  const why = run.outcome === 'completed' ? null : (result?.reason ?? null)
  return (
    <header className={styles.header}>
      <div className={styles.top}>
        <nav className={styles.crumbs} aria-label="Where you are">
          <Link href="/">Runs</Link> <span aria-hidden="true">/</span> <code>{run.run_id}</code>
        </nav>
        {run.status === 'interrupted' && store.connection === 'live' ? (
          <span>nobody works on it</span>
        ) : (
          <LiveSign connection={store.connection} />
        )}
      </div>
      <div className={styles.main}>
        <div className={styles.what}>
          <Task text={run.said ?? run.task} />
          <div className={styles.meta}>
            <RunStatus run={run} />
            <Started at={run.created_at} by={detail.by} />
            <span>
              session <code>{run.session_id}</code>
            </span>
            {run.status === 'running' && (
              <span>{detail.owned_here ? 'this server works on it' : 'another process works on it'}</span>
            )}
          </div>
          {why !== null && <p className={styles.why}>{why}</p>}
        </div>
        <div className={styles.actions}>
          {run.plan && (
            <Link href={at`/runs/${run.run_id}/plan`} className={styles.link}>
              Plan
            </Link>
          )}
          <Button onClick={() => show('report')}>Report</Button>
          {store.has_diff && <Button onClick={() => show('diff')}>Diff</Button>}
          {may && <RunActions detail={detail} />}
        </div>
      </div>
      <Figures store={store} version={version} detail={detail} />
    </header>
  )
}

function Started({ at: created, by }: { at: number; by: string | null }) {
  const now = useNow(30_000)
  const date = new Date(created)
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      started {ageInWords(created, now)}
      {by !== null && ` by ${by}`}
    </time>
  )
}

/** A task can be a book: three lines of it are shown before somebody asks for the rest. */
function Task({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const [long, setLong] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const width = useWidth(heading)
  // biome-ignore lint/correctness/useExhaustiveDependencies: how many lines it has depends on the text and the width
  useLayoutEffect(() => {
    const shown = heading.current
    if (shown && !whole) setLong(shown.scrollHeight > shown.clientHeight + 1)
  }, [text, width, whole])
  return (
    <div>
      <h1 ref={heading} className={`${styles.task} ${whole ? '' : styles.folded}`}>
        {text}
      </h1>
      {(long || whole) && (
        <button type="button" className={styles.more} aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show the whole task'}
        </button>
      )}
    </div>
  )
}
