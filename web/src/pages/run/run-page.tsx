import { useQuery } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { type OpenQuestion, printableAll, titleOf } from '#domain'
import type { RunDetail } from '#wire'
import { ApiError, api, at } from '../../api/client'
import { KeysDialog } from '../../parts/keys-dialog'
import { Empty, Failure, Loading } from '../../parts/states'
import { useTitle } from '../../parts/title'
import { RunHeader } from './header/run-header'
import { AgentPanel } from './panel/agent-panel'
import { cardId } from './questions/question-card'
import { QuestionList } from './questions/questions'
import { useQuestions } from './questions/use-questions'
import styles from './run.module.css'
import { RUN_KEYS } from './run-keys'
import { type Record, RunRecord } from './run-record'
import { AgentTree } from './tree/agent-tree'
import { usePageKeys } from './use-page-keys'
import { useRun } from './use-run'

type Props = { run_id: string; agent_id: string | null }

/** A run while it happens and afterwards: what is delegated to whom, what it costs and what it waits for. */
export function RunPage({ run_id, agent_id }: Props) {
  const known = useQuery({
    queryKey: ['run', run_id],
    queryFn: async ({ signal }) => printableAll(await api<RunDetail>(at`/runs/${run_id}`, { signal })),
  })
  const { store, version } = useRun(run_id, known.data !== undefined)
  const [, navigate] = useLocation()
  const [shown, setShown] = useState<Record>('events')
  const record = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLDivElement>(null)
  const close = useCallback(() => navigate(at`/runs/${run_id}`), [navigate, run_id])
  const { help, setHelp } = usePageKeys({ search, close: agent_id === null ? null : close })
  const detail = store.detail ?? known.data
  const { questioned, connection } = store
  const wanted = questioned > 0 && detail?.run.status !== 'closed'
  const questions = useQuestions(run_id, { wanted, questioned, connection })
  const next = useFocusAfter(agent_id, grid)
  useTitle(detail ? titleOf(detail.run.task) : null)

  if (!detail) {
    if (known.error instanceof ApiError && known.error.status === 404) return <NoSuchRun run_id={run_id} />
    if (known.error) return <Failure error={known.error} retry={known.refetch} />
    return <Loading what="the run" />
  }
  const live = detail.run.status === 'running'
  const show = (what: Record) => {
    setShown(what)
    record.current?.scrollIntoView({ behavior: 'smooth', block: 'start' })
  }
  return (
    <div className={`${styles.page} ${agent_id === null ? '' : styles.beside}`}>
      <div className={styles.run}>
        {store.connection === 'lost' && <Lost />}
        <RunHeader store={store} version={version} detail={detail} show={show} />
        <QuestionList run_id={run_id} heard={live} questions={questions} />
        <AgentTree {...{ store, version, run_id, live, search, grid }} chosen={agent_id} />
        <div ref={record} className={styles.record}>
          <RunRecord {...{ store, version, run_id, live, shown }} show={setShown} />
        </div>
      </div>
      {agent_id !== null && (
        <AgentPanel
          key={agent_id}
          {...{ store, version, run_id, agent_id, live, close }}
          questions={questions.open.filter((question) => question.agent_id === agent_id)}
          goTo={(question, is_sheet) => {
            if (!is_sheet) return document.getElementById(cardId(question))?.focus()
            next.current = question
            close()
          }}
          showDiff={() => {
            close()
            show('diff')
          }}
        />
      )}
      {help && <KeysDialog keys={RUN_KEYS} close={() => setHelp(false)} />}
    </div>
  )
}

/** Who closes an agent is in the tree again; or at the question that they went to. */
function useFocusAfter(agent_id: string | null, grid: RefObject<HTMLElement | null>) {
  const next = useRef<OpenQuestion | null>(null)
  const before = useRef(agent_id)
  useEffect(() => {
    const closed = before.current !== null && agent_id === null
    before.current = agent_id
    if (!closed) return
    const card = next.current && document.getElementById(cardId(next.current))
    next.current = null
    if (card) card.focus()
    else grid.current?.focus({ preventScroll: true })
  }, [agent_id, grid])
  return next
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
