import { useMemo, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { costInWords, plural, timeInWords } from '#domain'
import type { PlanDetail, RunDetail } from '#wire'
import { ApiError, at } from '../../api/client'
import type { Connection } from '../../api/live'
import { useMayOperate } from '../../api/queries'
import { Button, IconButton } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { lastedFor } from '../../parts/lasted'
import { LiveSign } from '../../parts/live-sign'
import { ModelText } from '../../parts/model-text'
import { useNow } from '../../parts/now'
import { Empty, Failure, Loading } from '../../parts/states'
import { useTitle } from '../../parts/title'
import { useWide } from '../../parts/use-wide'
import { RunActions } from '../run/header/actions'
import { QuestionList } from '../run/questions/questions'
import type { useQuestions } from '../run/questions/use-questions'
import { AboutPlan } from './about-plan'
import { Graph, MOST_DASHED } from './graph'
import styles from './plan.module.css'
import { PlanBadge } from './plan-badge'
import { StepList } from './step-list'
import { StepPanel } from './step-panel'
import { countWords, overlapsOf, shownSteps } from './steps'
import { usePlan } from './use-plan'

/** The plan of a run: its steps, how far each has come, and what was found about the whole. */
export function PlanPage({ run_id }: { run_id: string }) {
  const { run, plan, questions, connection } = usePlan(run_id)
  const error = run.error ?? plan.error
  useTitle(plan.data ? `Plan: ${plan.data.goal}` : null)
  if (run.data && plan.data) {
    return <Shown detail={run.data} outcome={plan.data} questions={questions} connection={connection} />
  }
  if (!error) return <Loading what="the plan" />
  if (!(error instanceof ApiError) || error.status !== 404) return <Failure error={error} retry={plan.refetch} />
  return (
    <Empty title={run.data ? 'This run has no plan' : 'There is no such run'}>
      <p>{error.message}</p>
      <p>
        {run.data ? (
          <Link href={at`/runs/${run_id}`}>See the run</Link>
        ) : (
          <Link href="/">See the runs of this folder</Link>
        )}
        . Plans are made with <code>retinue plan "what is to be reached"</code>, or with “Make a plan first” in a new
        run.
      </p>
    </Empty>
  )
}

/** Where there is room for a graph beside a panel. */
const WIDE_PX = 721

type ShownProps = {
  detail: RunDetail
  outcome: PlanDetail
  questions: ReturnType<typeof useQuestions>
  connection: Connection
}

function Shown({ detail, outcome, questions, connection }: ShownProps) {
  const { run } = detail
  const { run_id } = run
  const may = useMayOperate()
  const now = useNow(run.status === 'running' ? 1_000 : null)
  const { totals, plan, reason, report } = outcome
  const wide = useWide(WIDE_PX)
  const [params, setParams] = useSearchParams()
  const [as_list, setAsList] = useState(false)
  const steps = useMemo(() => shownSteps(outcome, run.status), [outcome, run.status])
  const overlaps = useMemo(() => overlapsOf(plan?.steps ?? []), [plan])
  const chosen = steps.find(({ id }) => id === params.get('step')) ?? null
  const choose = (id: string | null) => setParams(id === null ? {} : { step: id }, { replace: true })
  const toggle = (id: string) => choose(id === chosen?.id ? null : id)
  const approvals = questions.open.filter((one) => one.kind === 'approval')
  const asked_about = new Set(approvals.flatMap(({ step }) => step ?? []))
  const props = { run_id, steps, overlaps, asked: asked_about, chosen: chosen?.id ?? null, choose: toggle }
  const panel = chosen && <StepPanel {...{ run_id, overlaps, choose }} step={chosen} />
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.top}>
          <Link href={at`/runs/${run_id}`}>Run {run_id}</Link>
          <LiveSign connection={connection} />
        </div>
        <div className={styles.top}>
          <h1>{outcome.goal}</h1>
          {may && (
            <div className={styles.actions}>
              <RunActions detail={detail} />
            </div>
          )}
        </div>
        <p className={styles.counts}>
          <PlanBadge outcome={outcome} run={run} asked={questions.open.length > 0} />
          <span>{steps.length > 0 ? countWords(steps) : 'no step yet'}</span>
          <span className={styles.quiet}>
            {plural(totals.agents, 'sub-agent')}, {plural(totals.tool_calls, 'tool call')},{' '}
            {plural(totals.tokens, 'token')}, {costInWords(totals.cost_usd)}, {timeInWords(lastedFor(run, now))}
          </span>
        </p>
        {reason !== null && <p className={styles.reason}>{reason}</p>}
        {run.status === 'interrupted' && (
          <p className={styles.quiet}>
            {run.paused ? `Paused by ${run.paused.by}: ${run.paused.reason}.` : 'Nobody works on it.'} It goes on with{' '}
            <code>retinue resume {run_id}</code>.
          </p>
        )}
      </header>
      <QuestionList run_id={run_id} heard={run.status === 'running'} questions={questions} />
      <div className={wide && chosen ? styles.columns : undefined}>
        <div className={styles.main}>
          {wide && steps.length > 0 && (
            <div className={styles.bar}>
              <Legend overlaps={overlaps.length} />
              <Button aria-pressed={as_list} onClick={() => setAsList(!as_list)}>
                As a list
              </Button>
            </div>
          )}
          {steps.length === 0 ? (
            <Empty title="There is no step yet" below>
              The planner is at work, or was not begun.
            </Empty>
          ) : wide && !as_list ? (
            <Graph {...props} />
          ) : (
            <StepList {...props} />
          )}
        </div>
        {wide && chosen && (
          <aside className={styles.panel} aria-label={`Step ${chosen.id}`}>
            <header className={styles.top}>
              <h2>{chosen.title}</h2>
              <IconButton label="Close" onClick={() => choose(null)}>
                ✕
              </IconButton>
            </header>
            {panel}
          </aside>
        )}
      </div>
      <AboutPlan outcome={outcome} />
      <details className={styles.report}>
        <summary>Report</summary>
        <ModelText text={report} />
      </details>
      {!wide && chosen && (
        <Dialog title={chosen.title} close={() => choose(null)}>
          <div className={styles.inside}>{panel}</div>
        </Dialog>
      )}
    </div>
  )
}

function Legend({ overlaps }: { overlaps: number }) {
  return (
    <p className={styles.legend}>
      <span className={styles.solid} /> depends on
      <span className={styles.pale} /> follows
      {overlaps > 0 && (
        <>
          <span className={styles.dashed} /> may write the same, so that one waits
          {overlaps > MOST_DASHED && ' (shown for the chosen step)'}
        </>
      )}
    </p>
  )
}
