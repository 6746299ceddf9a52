import { Button } from '../../../parts/button'
import { DiffView } from './diff-view'
import type { Draft } from './draft'
import styles from './registry.module.css'

type Props = { draft: Draft; stored: { version: number; text: string }; take: () => void; discard: () => void }

/** What was typed in this tab before and not saved. There is no editor until it is decided, so that neither is lost. */
export function DraftOffer({ draft, stored, take, discard }: Props) {
  return (
    <section className={styles.offer} aria-label="Unsaved draft">
      <h2>There is a draft that was not saved</h2>
      <p>
        You changed version {draft.version} in this tab
        {draft.version === stored.version ? '' : `, and the registry has version ${stored.version} by now`}. This is how
        the draft differs from what is stored:
      </p>
      <DiffView label="The draft" before={stored.text} after={draft.text} />
      <div className={styles.actions}>
        <Button kind="main" onClick={take}>
          Go on with the draft
        </Button>
        <Button kind="danger" onClick={discard}>
          Discard the draft
        </Button>
      </div>
    </section>
  )
}
