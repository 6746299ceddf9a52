import { useQuery } from '@tanstack/react-query'
import { countInWords, printableAll } from '#domain'
import type { Report } from '#wire'
import { api, at } from '../../api/client'
import { ModelText } from '../../parts/model-text'
import { Loading } from '../../parts/states'
import { Tabs } from '../../parts/tabs'
import { EventList } from './events/event-list'
import { LoadedDiff } from './panel/files-tab'
import styles from './run.module.css'
import type { RunStore } from './run-store'

export type Record = 'events' | 'report' | 'diff'

type Props = {
  store: RunStore
  version: number
  run_id: string
  live: boolean
  shown: Record
  show: (what: Record) => void
}

/** What happened in the run, what came of it, and what it changed. */
export function RunRecord({ store, version, run_id, live, shown, show }: Props) {
  const tabs = [
    { id: 'events', name: 'Events', note: countInWords(store.events.length) },
    { id: 'report', name: 'Report' },
    ...(store.has_diff ? [{ id: 'diff', name: 'Diff' } as const] : []),
  ] as const
  return (
    <Tabs label="Record of the run" tabs={tabs} chosen={shown} choose={show}>
      {shown === 'events' && <EventList {...{ store, version, run_id, live }} agent_id={null} />}
      {shown === 'report' && <RunReport key={String(live)} run_id={run_id} />}
      {shown === 'diff' && (
        <div className={styles.padded}>
          <LoadedDiff key={String(live)} path={at`/runs/${run_id}/diff`} />
        </div>
      )}
    </Tabs>
  )
}

function RunReport({ run_id }: { run_id: string }) {
  const report = useQuery({
    queryKey: ['report', run_id],
    queryFn: async ({ signal }) => printableAll(await api<Report>(at`/runs/${run_id}/report`, { signal })),
    staleTime: 0,
  })
  if (!report.data && !report.error) return <Loading what="the report" />
  return (
    <div className={styles.padded}>
      {/* That there is none yet is nothing that failed: the server says so in words. */}
      {report.data ? <ModelText text={report.data.report} /> : <p>{report.error?.message}</p>}
    </div>
  )
}
