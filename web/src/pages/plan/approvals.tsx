import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { GivenAnswer, Questions } from '#wire'
import { api, at } from '../../api/client'
import { useMayOperate } from '../../api/queries'
import { Button } from '../../parts/button'
import styles from './plan.module.css'

export type Approval = Extract<Questions['questions'][number], { kind: 'approval' }>

/** What a person is asked about the plan, and the two things that they can say. */
export function Approvals({ run_id, questions }: { run_id: string; questions: readonly Approval[] }) {
  return questions.map((question) => (
    <Asked key={`${question.call_id} ${question.step}`} run_id={run_id} question={question} />
  ))
}

function Asked({ run_id, question }: { run_id: string; question: Approval }) {
  const { agent_id, call_id, step, title } = question
  const [note, setNote] = useState('')
  const may = useMayOperate()
  const queries = useQueryClient()
  const say = useMutation({
    mutationFn: (answer: 'approve' | 'decline') => {
      const given: GivenAnswer = { agent_id, call_id, kind: 'approval', step, answer, note: note.trim() || null }
      return api<unknown>(at`/runs/${run_id}/answers`, { method: 'POST', body: given })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['plan', run_id] }),
  })
  const busy = say.isPending || say.isSuccess
  return (
    <section className={styles.asked} aria-label="Waits for your yes">
      <h2>{step === null ? 'Carry this plan out?' : `Begin step ${step}: ${title}?`}</h2>
      <p>
        {step === null
          ? 'Nothing of it has begun. What you leave is kept, and can be carried out later.'
          : 'The plan says that a person is asked before this step. Without a yes it is not done.'}
      </p>
      {may ? (
        <form className={styles.answer} onSubmit={(event) => event.preventDefault()}>
          <input
            type="text"
            aria-label="Note"
            placeholder="A note, if you like"
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
          <Button disabled={busy} onClick={() => say.mutate('decline')}>
            {step === null ? 'Leave it for later' : 'No'}
          </Button>
          <Button kind="main" disabled={busy} onClick={() => say.mutate('approve')}>
            {step === null ? 'Carry it out' : 'Yes, begin it'}
          </Button>
        </form>
      ) : (
        <p className={styles.quiet}>An operator or admin can answer this.</p>
      )}
      {say.error && (
        <p className={styles.reason} role="alert">
          {say.error.message}
        </p>
      )}
    </section>
  )
}
