import { useState } from 'react'
import type { PinScope } from '#domain'
import { useMe } from '../../../api/queries'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { Loading } from '../../../parts/states'
import { useAgents } from '../data'
import { PinForm } from './pin-form'
import styles from './pins.module.css'

type Props = { name: string; scope: PinScope; session_id?: string | null; close: () => void }

/** Pins something, and says so before it closes. */
export function PinDialog({ name, scope, session_id = null, close }: Props) {
  const view = useAgents().data
  const me = useMe().data
  const [said, setSaid] = useState<string | null>(null)
  return (
    <Dialog title={name === '' ? 'Pin an agent or a profile' : `Pin ${name}`} close={close}>
      {said !== null ? (
        <div className={styles.form}>
          <p role="status">{said}</p>
          <div className={styles.actions}>
            <Button kind="main" onClick={close} autoFocus>
              Close
            </Button>
          </div>
        </div>
      ) : view && me ? (
        <PinForm view={view} principal={me.principal} initial={{ name, scope, session_id }} done={setSaid} />
      ) : (
        <Loading what="agents" />
      )}
    </Dialog>
  )
}
