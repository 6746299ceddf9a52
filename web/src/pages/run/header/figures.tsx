import type { ReactNode } from 'react'
import { costInWords, countInWords, plural, type Standing, timeInWords, totalsOf } from '#domain'
import type { RunDetail } from '#wire'
import { useNow } from '../../../parts/now'
import type { RunStore } from '../run-store'
import { STANDING_WORDS } from '../tree/agent-row'
import styles from './header.module.css'

const STANDINGS: readonly Standing[] = ['waiting', 'at_work', 'completed', 'incomplete', 'failed']

/** What the run has come to, in the words and numbers that the terminal says. */
export function Figures({ store, detail }: { store: RunStore; version: number; detail: RunDetail }) {
  const { run, result } = detail
  const live = run.status === 'running'
  const now = useNow(live ? 1_000 : null)
  const totals = totalsOf(store.tree)
  const { turns, tool_calls, tokens, cost_usd } = totals.figures
  const lasted = result?.duration_ms ?? (live ? Math.max(now, run.updated_at) : run.updated_at) - run.created_at
  const shown = STANDINGS.filter((standing) => totals[standing] > 0)
  return (
    <dl className={styles.figures}>
      <Figure name="sub-agents" value={countInWords(totals.sub_agents)}>
        {totals.sub_agents > 0 && (
          <>
            <span className={styles.shares} aria-hidden="true">
              {shown.map((standing) => (
                <span key={standing} className={styles[standing]} style={{ flexGrow: totals[standing] }} />
              ))}
            </span>
            <span className={styles.standings}>
              {shown.map((standing) => `${countInWords(totals[standing])} ${STANDING_WORDS[standing]}`).join(' · ')}
            </span>
          </>
        )}
      </Figure>
      <Figure name={plural(turns, 'turn').replace(/^\S+ /, '')} value={countInWords(turns)} />
      <Figure name={plural(tool_calls, 'tool call').replace(/^\S+ /, '')} value={countInWords(tool_calls)} />
      <Figure name="tokens" value={countInWords(tokens)} />
      <Figure name="cost" value={cost_usd === null ? 'unknown' : costInWords(cost_usd)} />
      <Figure name="time" value={timeInWords(Math.max(0, Math.round(lasted)))} />
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
