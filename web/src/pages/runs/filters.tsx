import type { RefObject } from 'react'
import styles from './filters.module.css'
import { type RunFilter, type RunKind, type RunStanding, STANDINGS } from './run-list'

type Props = {
  filter: RunFilter
  change: (filter: RunFilter) => void
  counts: Record<RunStanding | 'all', number>
  search: RefObject<HTMLInputElement | null>
}

const KINDS: Record<RunKind, string> = { task: 'Tasks', 'fan-out': 'Fan-outs', plan: 'Plans' }

export function Filters({ filter, change, counts, search }: Props) {
  return (
    <search className={styles.filters} aria-label="Runs">
      <fieldset className={styles.standings}>
        <legend className="visually-hidden">Status</legend>
        {(['all', ...STANDINGS] as const).map((one) => {
          const standing = one === 'all' ? null : one
          return (
            <label key={one} className={styles.standing}>
              <input
                type="radio"
                name="standing"
                className="visually-hidden"
                checked={filter.standing === standing}
                onChange={() => change({ ...filter, standing })}
              />
              {one === 'asking' ? 'waits for you' : one} <span className={styles.count}>{counts[one]}</span>
            </label>
          )
        })}
      </fieldset>
      <select
        className={styles.kind}
        aria-label="Kind of run"
        value={filter.kind ?? ''}
        onChange={({ target }) => change({ ...filter, kind: (target.value || null) as RunKind | null })}
      >
        <option value="">Every kind</option>
        {Object.entries(KINDS).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
      <input
        ref={search}
        type="search"
        className={styles.text}
        aria-label="Search in tasks and ids"
        aria-keyshortcuts="/"
        placeholder="Search in tasks and ids  ( / )"
        value={filter.text}
        onChange={({ target }) => change({ ...filter, text: target.value })}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
    </search>
  )
}
