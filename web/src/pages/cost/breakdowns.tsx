import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { countInWords, titleOf } from '#domain'
import { at } from '../../api/client'
import { Button } from '../../parts/button'
import styles from './cost.module.css'
import { type CostLine, type SpentBy, spentBy } from './costs'
import { moneyOf } from './money'

/** So many are shown before somebody asks for all. */
const FIRST = 10

type Rows = { rows: readonly CostLine[] }

export function ByModel({ rows }: Rows) {
  return (
    <Breakdown
      title="By model"
      what="Model"
      groups={spentBy(rows, ({ model }) => model)}
      name={(key) => <code>{key}</code>}
    />
  )
}

export function ByProfile({ rows }: Rows) {
  const groups = spentBy(rows, ({ profile }) => profile ?? '')
  const name = (key: string) => (key === '' ? <span className={styles.says}>no profile</span> : key)
  return <Breakdown title="By agent profile" what="Profile" groups={groups} name={name} />
}

export function ByRun({ rows }: Rows) {
  const tasks = new Map(rows.map(({ run_id, task }) => [run_id, task]))
  const name = (run_id: string) => (
    <Link className={styles.run} href={at`/runs/${run_id}`} title={tasks.get(run_id)}>
      {titleOf(tasks.get(run_id) ?? '')} <code>{run_id}</code>
    </Link>
  )
  return <Breakdown title="By run" what="Run" groups={spentBy(rows, ({ run_id }) => run_id)} name={name} />
}

type Props = { title: string; what: string; groups: readonly SpentBy[]; name: (key: string) => ReactNode }

function Breakdown({ title, what, groups, name }: Props) {
  const [all, setAll] = useState(false)
  const most = Math.max(0, ...groups.map(({ known_usd }) => known_usd))
  const left = groups.length - FIRST
  return (
    <section className={styles.card} aria-label={title}>
      <header className={styles.title}>
        <h2>{title}</h2>
      </header>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{what}</th>
            <th scope="col">Cost</th>
            <th scope="col">Calls</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Cached</th>
            <th scope="col">Tokens out</th>
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, all ? undefined : FIRST).map((group) => (
            <tr key={group.key}>
              <th scope="row">
                {name(group.key)}
                <span
                  className={styles.share}
                  style={{ width: most > 0 ? `${(group.known_usd / most) * 100}%` : 0 }}
                  aria-hidden="true"
                />
              </th>
              <Money group={group} />
              <td data-name="calls">{countInWords(group.calls)}</td>
              <td data-name="in">{countInWords(group.input_tokens)}</td>
              <td data-name="cached">{countInWords(group.cached_tokens)}</td>
              <td data-name="out">{countInWords(group.output_tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && !all && (
        <Button className={styles.more} onClick={() => setAll(true)}>
          Show {left} more
        </Button>
      )}
    </section>
  )
}

function Money({ group }: { group: SpentBy }) {
  const { text, missing } = moneyOf(group)
  return (
    <td className={missing === null ? undefined : styles.unknown} title={missing ?? undefined}>
      {text}
    </td>
  )
}
