import type { CSSProperties, Ref } from 'react'
import { Link } from 'wouter'
import { aboutOf, ageInWords, costInWords, countInWords, plural, timeInWords } from '#domain'
import { at } from '../../api/client'
import { lastedFor } from '../../parts/lasted'
import type { RunSummary } from '../../parts/library'
import { RunStatus } from '../../parts/status'
import { kindOf } from './run-list'
import styles from './run-table.module.css'
import { ROW_LINK } from './use-keys'

type Props = { run: RunSummary; index: number; now: number; place: Ref<HTMLDivElement>; style: CSSProperties }

/** A run in a line, or on a phone as a card. All of it leads to the run. */
export function RunRow({ run, index, now, place, style }: Props) {
  const kind = kindOf(run)
  const tokens = run.input_tokens + run.output_tokens
  return (
    // biome-ignore lint/a11y/useSemanticElements: see run-table.tsx
    // biome-ignore lint/a11y/useFocusableInteractive: the link in it has the focus
    <div role="row" aria-rowindex={index + 2} data-index={index} ref={place} style={style} className={styles.row}>
      <div className={styles.columns}>
        <Cell name="status">
          <RunStatus run={run} />
        </Cell>
        <Cell name="about">
          <Link className={styles.task} href={at`/runs/${run.run_id}`} title={run.task} {...{ [ROW_LINK]: index }}>
            {aboutOf(run.task)}
          </Link>
          <span className={styles.ids}>
            {kind !== 'task' && <span className={styles.kind}>{kind}</span>}
            <span>{run.run_id}</span>
            <span className={styles.session}>session {run.session_id}</span>
          </span>
        </Cell>
        <Cell name="number">
          {countInWords(run.agents)}
          <span className={styles.unit}>{run.agents === 1 ? 'agent' : 'agents'}</span>
        </Cell>
        <Cell name="number">
          {countInWords(run.turns)} <span className={styles.quiet}>/ {countInWords(run.tool_calls)}</span>
          <span className={styles.unit}>{run.turns === 1 ? 'turn' : 'turns'} / calls</span>
        </Cell>
        <Cell name="number" title={tokenTitle(run)}>
          {countInWords(tokens)}
          <span className={styles.unit}>{tokens === 1 ? 'token' : 'tokens'}</span>
        </Cell>
        <Cell name="number" title={run.cost_usd === null ? unknownTitle(run) : undefined}>
          {run.cost_usd === null ? <span className={styles.unknown}>unknown</span> : costInWords(run.cost_usd)}
          {run.cost_usd === null && <span className={styles.unit}>cost</span>}
        </Cell>
        <Cell name="number">{timeInWords(lastedFor(run, now))}</Cell>
        <Cell name="age" title={new Date(run.created_at).toLocaleString()}>
          {ageInWords(run.created_at, now)}
        </Cell>
      </div>
    </div>
  )
}

function Cell({ name, title, children }: { name: string; title?: string | undefined; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see run-table.tsx
    <div role="cell" className={styles[name]} title={title}>
      {children}
    </div>
  )
}

function tokenTitle({ input_tokens, output_tokens, cached_tokens }: RunSummary): string {
  return `${countInWords(input_tokens)} in, of these ${countInWords(cached_tokens)} cached; ${countInWords(output_tokens)} out`
}

function unknownTitle({ unpriced_calls }: RunSummary): string {
  return `The price of ${plural(unpriced_calls, 'call')} is not known`
}
