import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { countInWords, plural } from '#domain'
import type { Connection } from '../../api/live'
import { useMayOperate } from '../../api/queries'
import { Button } from '../../parts/button'
import { KeysDialog } from '../../parts/keys-dialog'
import { LiveSign } from '../../parts/live-sign'
import { Empty, Failure, Loading } from '../../parts/states'
import { useTitle } from '../../parts/title'
import { Filters } from './filters'
import { NewRun } from './new-run'
import { countStandings, filterFrom, filterTo, matching, type RunFilter } from './run-list'
import { RunTable } from './run-table'
import styles from './runs.module.css'
import { RUNS_KEYS, useKeys } from './use-keys'
import { useRuns } from './use-runs'

/** The runs of this folder, whoever began them, as they are now. */
export function RunsPage() {
  const { runs, connection, more, older } = useRuns()
  const [params, setParams] = useSearchParams()
  const filter = useMemo(() => filterFrom(params), [params])
  const setFilter = useCallback((next: RunFilter) => setParams(filterTo(next), { replace: true }), [setParams])
  const looked_for = useDeferredValue(filter)
  const shown = useMemo(() => matching(runs ?? [], looked_for), [runs, looked_for])
  const counts = useMemo(() => countStandings(runs ?? [], looked_for), [runs, looked_for])
  const [starting, setStarting] = useState(false)
  const may = useMayOperate()
  const search = useRef<HTMLInputElement>(null)
  const begin = useCallback(() => setStarting(may), [may])
  const [helping, setHelping] = useState(false)
  const help = useCallback(() => setHelping(true), [])
  useKeys({ search, begin, help })
  useTitle('Runs')
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>Runs</h1>
        <LiveSign connection={connection} />
        {runs && (
          <span className={styles.loaded}>
            {more ? `the newest ${countInWords(runs.length)}` : plural(runs.length, 'run')}
          </span>
        )}
        {may && (
          <Button kind="main" className={styles.begin} onClick={begin} aria-keyshortcuts="n">
            New run <span aria-hidden="true">n</span>
          </Button>
        )}
      </header>
      {runs && runs.length > 0 && <Filters filter={filter} change={setFilter} counts={counts} search={search} />}
      {runs === null ? (
        <NotYet connection={connection} />
      ) : runs.length === 0 ? (
        <NoRuns may={may} begin={begin} />
      ) : shown.length === 0 ? (
        <Empty title="No run is like that" below>
          <p>
            {more ? 'None of those that are loaded: there are older ones.' : 'Nothing that was run in this folder is.'}
          </p>
          <Button className={styles.all} onClick={() => setFilter({ standing: null, kind: null, text: '' })}>
            Show all runs
          </Button>
        </Empty>
      ) : (
        <RunTable runs={shown} />
      )}
      {runs && more && (
        <div className={styles.older}>
          {older.error && <Failure error={older.error} below />}
          <Button onClick={older.load} disabled={older.loading}>
            {older.loading ? 'Loading …' : 'Load older runs'}
          </Button>
        </div>
      )}
      {starting && <NewRun close={() => setStarting(false)} />}
      {helping && <KeysDialog keys={RUNS_KEYS} close={() => setHelping(false)} />}
    </div>
  )
}

function NotYet({ connection }: { connection: Connection }) {
  if (connection === 'busy') {
    return (
      <Empty title="Too many windows are open" below>
        The server has no room for another one that listens. Close some: it is tried again every two seconds.
      </Empty>
    )
  }
  if (connection !== 'lost') return <Loading what="the runs" />
  return (
    <Empty title="The server cannot be reached" below>
      It is tried again every two seconds. If it was ended, start it again with <code>retinue serve</code>.
    </Empty>
  )
}

function NoRuns({ may, begin }: { may: boolean; begin: () => void }) {
  return (
    <Empty title="Nothing was run in this folder yet" below>
      <p>
        Start a run from a terminal in this folder: <code>retinue "what is to be done"</code>
      </p>
      {may && (
        <Button kind="main" className={styles.all} onClick={begin}>
          Start one here
        </Button>
      )}
    </Empty>
  )
}
