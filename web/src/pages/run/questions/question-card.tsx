import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { ageInWords, type OpenQuestion, printableAll, questionKey } from '#domain'
import { at } from '../../../api/client'
import { useMayOperate } from '../../../api/queries'
import { useNow } from '../../../parts/now'
import { DiffView } from '../diff/diff-view'
import { ApprovalAnswer, PermissionAnswer, QuestionAnswer } from './answers'
import styles from './questions.module.css'
import { useAnswer } from './use-questions'

export type Asked<K extends OpenQuestion['kind']> = Extract<OpenQuestion, { kind: K }>

/** Where a question is on the page. */
export function cardId(question: OpenQuestion): string {
  return `question ${questionKey(question)}`
}

/** An answer is taken by the process that works on the run. After this long it seems that there is none. */
const TAKEN_MS = 4_000

/** So long after it has come up a question cannot be answered: a click may have been meant for the one before it. */
const LOOK_FIRST_MS = 700

type Props = {
  run_id: string
  /** Somebody works on the run, and would hear an answer. */
  heard: boolean
  question: OpenQuestion
  /** When it was last heard that it is open. */
  heard_at: number
  /** Somebody else was faster: this card goes with the question, so that its list says so. */
  onLate: (message: string | null) => void
}

/** One question: who asks what and why, all of what it is about, and the answers there are. */
export function QuestionCard({ run_id, heard, question, heard_at, onLate }: Props) {
  const answer = useAnswer(run_id, onLate)
  const role = useMayOperate()
  const may = role && heard
  const seen = useSeen(LOOK_FIRST_MS)
  const now = useNow(10_000)
  const left = answer.isSuccess && heard_at > answer.submittedAt + TAKEN_MS
  const given = { send: answer.mutate, busy: !seen || answer.isPending || (answer.isSuccess && !left) }
  const shown = printableAll(question)
  return (
    <article id={cardId(question)} className={styles.card} tabIndex={-1}>
      <header className={styles.head}>
        <span className={styles.sign} aria-hidden="true">
          ?
        </span>
        <h2>
          <Link href={at`/runs/${run_id}/agents/${question.agent_id}`}>
            <code>{question.agent_id}</code>
          </Link>{' '}
          {wants(shown, run_id)}
        </h2>
        <span className={styles.age}>asked {ageInWords(question.asked_at, now)}</span>
      </header>
      <What question={shown} />
      {!role && <p className={styles.reason}>Your role is viewer: an operator can answer this.</p>}
      {!heard && <p className={styles.reason}>Nobody works on the run now. Resume it, and it asks this again.</p>}
      {may && question.kind === 'permission' && <PermissionAnswer {...given} question={question} />}
      {may && question.kind === 'question' && <QuestionAnswer {...given} question={question} />}
      {may && question.kind === 'approval' && <ApprovalAnswer {...given} question={question} />}
      {left && (
        <p className={styles.reason} role="status">
          Nobody has taken your answer yet: perhaps nobody works on the run. Resume it, or answer again.
        </p>
      )}
      {answer.error && (
        <p className={styles.refused} role="alert">
          {answer.error.message}
        </p>
      )}
    </article>
  )
}

/** Whether it has been there for so long. */
function useSeen(ms: number): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const timer = window.setTimeout(() => setSeen(true), ms)
    return () => window.clearTimeout(timer)
  }, [ms])
  return seen
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
  if (question.kind === 'approval') {
    return (
      <>
        <p className={styles.text}>{question.title}</p>
        <p className={styles.reason}>
          {question.step === null
            ? 'Nothing of it has begun. What you leave is kept, and can be carried out later.'
            : 'The plan says that a person is asked before this step. Without a yes it is not done.'}
        </p>
      </>
    )
  }
  if (question.kind === 'question') return <p className={styles.text}>{question.text}</p>
  const { summary, detail, cut, reason } = question
  const is_diff = detail !== null && /^(diff --git |--- |@@ )/m.test(detail)
  return (
    <>
      {/* Of a command the summary says the same as the whole of it. */}
      {!(detail !== null && summary.includes(detail.trim())) && <p className={`${styles.text} mono`}>{summary}</p>}
      {detail !== null && (is_diff ? <DiffView diff={detail} low /> : <pre className={styles.detail}>{detail}</pre>)}
      {cut && <p className={styles.refused}>Its middle is left out here: a yes is to that, too.</p>}
      <p className={styles.reason}>{reason}</p>
    </>
  )
}
