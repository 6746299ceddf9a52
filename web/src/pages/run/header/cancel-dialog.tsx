import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, at } from '../../../api/client'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import styles from './header.module.css'

type Props = { run_id: string; agent_id: string | null; close: () => void }

/** Asks once more, and why: what is cancelled cannot be resumed. */
export function CancelDialog({ run_id, agent_id, close }: Props) {
  const [reason, setReason] = useState('')
  const box = useId()
  const cancel = useMutation({
    mutationFn: () => {
      const why = reason.trim()
      const body = { ...(why === '' ? {} : { reason: why }), ...(agent_id === null ? {} : { agent_id }) }
      return api(at`/runs/${run_id}/cancel`, { method: 'POST', body })
    },
    onSuccess: close,
  })
  const what = agent_id === null ? 'the run' : agent_id
  return (
    <Dialog title={`Cancel ${what}?`} close={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          cancel.mutate()
        }}
      >
        <p>
          {agent_id === null
            ? 'Every agent of it stops and is closed as cancelled. What they have written in worktrees of their own is kept. A cancelled run cannot be resumed.'
            : 'It stops, and all below it. Its parent is told that it was cancelled and goes on.'}
        </p>
        <label htmlFor={box}>Reason, for the log</label>
        <input id={box} value={reason} onChange={(event) => setReason(event.target.value)} maxLength={500} />
        {cancel.error && (
          <p className={styles.refused} role="alert">
            {cancel.error.message}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={close}>Let it go on</Button>
          <Button kind="danger" type="submit" disabled={cancel.isPending}>
            {cancel.isPending ? 'Cancelling …' : `Cancel ${what}`}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
