import type { ReactNode } from 'react'
import { costInWords, countInWords, plural, timeInWords, totalsOf } from '#domain'
import type { RunDetail } from '#wire'
import { lastedFor } from '../../../parts/lasted'
import { useNow } from '../../../parts/now'
import type { RunStore } from '../run-store'
import { STANDING_WORDS, STANDINGS, standingCounts } from '../tree/standing'
import styles from './header.module.css'

/** What the run has come to, in the words and numbers that the terminal says. */
export function Figures({ store, detail }: { store: RunStore; version: number; detail: RunDetail }) {
  const { run } = detail
  const now = useNow(run.status === 'running' ? 1_000 : null)
  const totals = totalsOf(store.tree)
  const { turns, tool_calls, tokens, cost_usd } = totals.figures
  const counts = standingCounts(store.tree, run.status === 'interrupted')
  const shown = STANDINGS.filter((standing) => counts[standing] > 0)
  return (
    <dl className={styles.figures}>
      <Figure name="sub-agents" value={countInWords(totals.sub_agents)}>
        {totals.sub_agents > 0 && (
          <>
            <span className={styles.shares} aria-hidden="true">
              {shown.map((standing) => (
                <span key={standing} className={styles[standing]} style={{ flexGrow: counts[standing] }} />
              ))}
            </span>
            <span className={styles.standings}>
              {shown.map((standing) => `${countInWords(counts[standing])} ${STANDING_WORDS[standing]}`).join(' · ')}
            </span>
          </>
        )}
      </Figure>
      <Figure name={plural(turns, 'turn').replace(/^\S+ /, '')} value={countInWords(turns)} />
      <Figure name={plural(tool_calls, 'tool call').replace(/^\S+ /, '')} value={countInWords(tool_calls)} />
      <Figure name="tokens" value={countInWords(tokens)} />
      <Figure name="cost" value={cost_usd === null ? 'unknown' : costInWords(cost_usd)} />
      <Figure name="time" value={timeInWords(Math.round(lastedFor(run, now)))} />
    </dl>
  )
}

function Figure({ name, value, children }: { name: string; value: string; children?: ReactNode }) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.value}>{value}</span>
        {children}
      </dd>
    </div>
  )
}
