import { type OpenQuestion, printableLine, questionKey } from '#domain'
import { Button } from '../../../parts/button'
import { QuestionCard } from './question-card'
import styles from './questions.module.css'
import type { useQuestions } from './use-questions'

type Props = { run_id: string; heard: boolean; questions: ReturnType<typeof useQuestions> }

/** What waits for a person, before everything else. It is always there, so that those who do not see it hear of it. */
export function QuestionList({ run_id, heard, questions: { open, heard_at, error, retry, late, onLate } }: Props) {
  const last = open[open.length - 1]
  return (
    <>
      <p className="visually-hidden" role="status">
        {last && inOneSentence(last)}
      </p>
      {error && (
        <p className={styles.failed} role="alert">
          What this run asks could not be loaded: {error.message} <Button onClick={retry}>Try again</Button>
        </p>
      )}
      {late && (
        <p className={styles.failed} role="alert">
          Your answer was not taken. {late}
        </p>
      )}
      {open.length > 0 && (
        <section className={styles.questions} aria-label="Questions that wait for you">
          {open.map((question) => (
            // What is asked once more, after its process had ended, is a new question.
            <QuestionCard
              key={`${questionKey(question)} ${question.asked_at}`}
              {...{ run_id, heard, question, heard_at, onLate }}
            />
          ))}
        </section>
      )}
    </>
  )
}

function inOneSentence(question: OpenQuestion): string {
  const { agent_id } = question
  if (question.kind === 'permission') return `${agent_id} asks to use ${printableLine(question.tool)}.`
  if (question.kind === 'question') return `${agent_id} asks you something.`
  return question.step === null
    ? 'It is asked whether to carry the plan out.'
    : `It is asked whether to begin step ${printableLine(question.step)}.`
}
