import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { RunDetail } from '#wire'
import { ApiError, api, at } from '../../api/client'
import { Empty, Failure, Loading } from '../../parts/states'
import { RunHeader } from './header/run-header'
import { KeysDialog } from './keys-dialog'
import { AgentPanel } from './panel/agent-panel'
import { QuestionList } from './questions/questions'
import { useQuestions } from './questions/use-questions'
import styles from './run.module.css'
import { type Record, RunRecord } from './run-record'
import { AgentTree } from './tree/agent-tree'
import { usePageKeys } from './use-page-keys'
import { useRun } from './use-run'

type Props = { run_id: string; agent_id: string | null }

/** A run while it happens and afterwards: what is delegated to whom, what it costs and what it waits for. */
export function RunPage({ run_id, agent_id }: Props) {
  const known = useQuery({
    queryKey: ['run', run_id],
    queryFn: ({ signal }) => api<RunDetail>(at`/runs/${run_id}`, { signal }),
  })
  const { store, version } = useRun(run_id, known.isSuccess)
  const questions = useQuestions(run_id, store)
  const [, navigate] = useLocation()
  const [shown, setShown] = useState<Record>('events')
  const record = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const close = useCallback(() => navigate(at`/runs/${run_id}`), [navigate, run_id])
  const { help, setHelp } = usePageKeys({ search, close: agent_id === null ? null : close })
  const detail = store.detail ?? known.data
  useTitle(detail?.run.task)

  if (!detail) {
    if (known.error instanceof ApiError && known.error.status === 404) return <NoSuchRun run_id={run_id} />
    if (known.error) return <Failure error={known.error} retry={known.refetch} />
    return <Loading what="the run" />
  }
  const live = detail.run.status === 'running'
  const open = detail.run.status === 'closed' ? [] : (questions.data?.questions ?? [])
  const show = (what: Record) => {
    setShown(what)
    record.current?.scrollIntoView({ behavior: 'smooth', block: 'start' })
  }
  return (
    <div className={`${styles.page} ${agent_id === null ? '' : styles.beside}`}>
      <div className={styles.run}>
        {store.connection === 'lost' && <Lost />}
        <RunHeader store={store} version={version} detail={detail} show={show} />
        {open.length > 0 && <QuestionList run_id={run_id} questions={open} />}
        <AgentTree {...{ store, version, run_id, live, search }} chosen={agent_id} />
        <div ref={record} className={styles.record}>
          <RunRecord {...{ store, version, run_id, live, shown }} show={setShown} />
        </div>
      </div>
      {agent_id !== null && (
        <AgentPanel
          key={agent_id}
          {...{ store, version, run_id, agent_id, live, close }}
          questions={open.filter((question) => question.agent_id === agent_id)}
        />
      )}
      {help && <KeysDialog close={() => setHelp(false)} />}
    </div>
  )
}

function NoSuchRun({ run_id }: { run_id: string }) {
  return (
    <Empty title="There is no such run here">
      <p>
        This folder has no run <code>{run_id}</code>. It may be of another folder: start <code>retinue serve</code>{' '}
        there.
      </p>
      <Link href="/">See the runs of this folder</Link>
    </Empty>
  )
}

function Lost() {
  return (
    <p className={styles.lost} role="alert">
      The server cannot be reached: what you see may be old. It is tried again every few seconds. If the server was
      ended, start it again with <code>retinue serve</code> and open the new address.
    </p>
  )
}

/** Tabs of a browser are told apart by what the runs are about. */
function useTitle(task: string | undefined): void {
  useEffect(() => {
    if (task === undefined) return
    const before = document.title
    document.title = `${task.trim().split('\n', 1)[0]?.slice(0, 60)} · Retinue`
    return () => {
      document.title = before
    }
  }, [task])
}
