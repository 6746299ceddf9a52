import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { titleOf } from '#domain'
import { at } from '../../api/client'
import { Button } from '../../parts/button'
import styles from './cost.module.css'
import { type CostLine, type SpentBy, spentBy } from './costs'
import { SpentTable } from './spent-table'

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
      <SpentTable
        what={what}
        groups={groups.slice(0, all ? undefined : FIRST)}
        name={({ key, known_usd }) => (
          <>
            {name(key)}
            <span
              className={styles.share}
              style={{ width: most > 0 ? `${(known_usd / most) * 100}%` : 0 }}
              aria-hidden="true"
            />
          </>
        )}
      />
      {left > 0 && !all && (
        <Button className={styles.more} onClick={() => setAll(true)}>
          Show {left} more
        </Button>
      )}
    </section>
  )
}
