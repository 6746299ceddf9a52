import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ageInWords, type OpenQuestion } from '#domain'
import { at } from '../../../api/client'
import { useMayOperate } from '../../../api/queries'
import { useNow } from '../../../parts/now'
import { DiffView } from '../diff/diff-view'
import { ApprovalAnswer, PermissionAnswer, QuestionAnswer } from './answers'
import styles from './questions.module.css'
import { useAnswer } from './use-questions'

export type Asked<K extends OpenQuestion['kind']> = Extract<OpenQuestion, { kind: K }>

/** One question: who asks what and why, all of what it is about, and the answers there are. */
export function QuestionCard({ run_id, question }: { run_id: string; question: OpenQuestion }) {
  const answer = useAnswer(run_id)
  const may = useMayOperate()
  const now = useNow(10_000)
  const given = { question, run_id, send: answer.mutate, busy: answer.isPending || answer.isSuccess }
  return (
    <article className={styles.card}>
      <header className={styles.head}>
        <span className={styles.sign} aria-hidden="true">
          ?
        </span>
        <h2>
          <Link href={at`/runs/${run_id}/agents/${question.agent_id}`}>
            <code>{question.agent_id}</code>
          </Link>{' '}
          {wants(question, run_id)}
        </h2>
        <span className={styles.age}>asked {ageInWords(question.asked_at, now)}</span>
      </header>
      <What question={question} />
      {!may && <p className={styles.reason}>Your role is viewer: an operator can answer this.</p>}
      {may && question.kind === 'permission' && <PermissionAnswer {...given} question={question} />}
      {may && question.kind === 'question' && <QuestionAnswer {...given} question={question} />}
      {may && question.kind === 'approval' && <ApprovalAnswer {...given} question={question} />}
      {answer.error && (
        <p className={styles.refused} role="alert">
          {answer.error.message}
        </p>
      )}
    </article>
  )
}

function wants(question: OpenQuestion, run_id: string): ReactNode {
  if (question.kind === 'permission') {
    return (
      <>
        asks to use <code>{question.tool}</code>
      </>
    )
  }
  if (question.kind === 'question') return 'asks you'
  const plan = <Link href={at`/runs/${run_id}/plan`}>the plan</Link>
  if (question.step === null) return <>asks whether to carry out {plan}</>
  return (
    <>
      asks whether to begin step <code>{question.step}</code> of {plan}
    </>
  )
}

function What({ question }: { question: OpenQuestion }) {
  if (question.kind === 'approval') return <p className={styles.text}>{question.title}</p>
  if (question.kind === 'question') return <p className={styles.text}>{question.text}</p>
  const { summary, detail, reason } = question
  const is_diff = detail !== null && /^(diff --git |--- |@@ )/m.test(detail)
  return (
    <>
      {/* Of a command the summary says the same as the whole of it. */}
      {!(detail !== null && summary.includes(detail.trim())) && <p className={`${styles.text} mono`}>{summary}</p>}
      {detail !== null && (is_diff ? <DiffView diff={detail} low /> : <pre className={styles.detail}>{detail}</pre>)}
      <p className={styles.reason}>{reason}</p>
    </>
  )
}
