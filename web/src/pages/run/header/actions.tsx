import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunDetail } from '#wire'
import { api, at } from '../../../api/client'
import { Button } from '../../../parts/button'
import { CancelDialog } from './cancel-dialog'
import styles from './header.module.css'

/** What can be done about a run, as it stands. What came of it is seen in its events. */
export function RunActions({ detail: { run } }: { detail: RunDetail }) {
  const [cancelling, setCancelling] = useState(false)
  const act = useMutation({
    mutationFn: (what: 'resume' | 'pause') =>
      api(at`/runs/${run.run_id}/${what}`, { method: 'POST', ...(what === 'pause' ? { body: {} } : {}) }),
  })
  if (run.status === 'closed') return null
  return (
    <>
      {run.status === 'interrupted' && (
        <Button kind="main" disabled={act.isPending} onClick={() => act.mutate('resume')}>
          Resume
        </Button>
      )}
      {run.status === 'running' && run.plan && (
        <Button disabled={act.isPending} onClick={() => act.mutate('pause')}>
          {act.isPending ? 'Pausing …' : 'Pause'}
        </Button>
      )}
      <Button kind="danger" onClick={() => setCancelling(true)}>
        Cancel
      </Button>
      {act.error && (
        <p className={styles.refused} role="alert">
          {act.error.message}
        </p>
      )}
      {cancelling && <CancelDialog run_id={run.run_id} agent_id={null} close={() => setCancelling(false)} />}
    </>
  )
}
