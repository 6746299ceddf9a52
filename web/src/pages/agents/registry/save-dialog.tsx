import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { DiffView } from './diff-view'
import { FaultList } from './fault-list'
import type { TextFault } from './faults'
import styles from './registry.module.css'

type Props = {
  base: { version: number; text: string }
  text: string
  faults: readonly TextFault[]
  saving: boolean
  refusal: string | null
  save: () => void
  close: () => void
}

/** Before it is stored: what is about to change, and what would keep the server from taking it. */
export function SaveDialog({ base, text, faults, saving, refusal, save, close }: Props) {
  const has_errors = faults.some(({ severity }) => severity === 'error')
  const of = base.version === 0 ? 'an empty registry' : `version ${base.version}`
  return (
    <Dialog title="Save the registry" close={close} wide>
      <div className={styles.stack}>
        <p>
          This is what changes, compared with {of}. Runs that begin from now on have it; those at work keep what they
          began with.
        </p>
        <DiffView label="What changes" before={base.text} after={text} />
        {faults.length > 0 && <FaultList faults={faults} />}
        {refusal !== null && (
          <p className={styles.refusal} role="alert">
            {refusal}
          </p>
        )}
        <div className={styles.actions}>
          <Button kind="main" disabled={has_errors || saving} onClick={save}>
            {saving ? 'Saving …' : 'Save'}
          </Button>
          <Button onClick={close}>Go on editing</Button>
          {has_errors && <span className={styles.quiet}>It can be saved when it has no faults.</span>}
        </div>
      </div>
    </Dialog>
  )
}
