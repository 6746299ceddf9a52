import { type OpenQuestion, questionKey } from '#domain'
import { QuestionCard } from './question-card'
import styles from './questions.module.css'

type Props = { run_id: string; questions: readonly OpenQuestion[] }

/** What waits for a person, before everything else. */
export function QuestionList({ run_id, questions }: Props) {
  return (
    <section className={styles.questions} aria-label="Questions that wait for you" aria-live="polite">
      {questions.map((question) => (
        <QuestionCard key={questionKey(question)} run_id={run_id} question={question} />
      ))}
    </section>
  )
}
