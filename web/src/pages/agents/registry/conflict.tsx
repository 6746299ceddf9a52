import { useState } from 'react'
import { ageInWords } from '#domain'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { useNow } from '../../../parts/now'
import { useRegistryHistory } from '../data'
import { DiffView } from './diff-view'
import styles from './registry.module.css'

type Text = { version: number; text: string }
type Props = { base: Text; theirs: Text; takeTheirs: () => void; goOn: () => void }

/** Somebody else stored a version since: theirs is compared with what was typed, which nobody takes away. */
export function Conflict({ base, theirs, takeTheirs, goOn }: Props) {
  const history = useRegistryHistory(theirs.version)
  const now = useNow(60_000)
  const [looks, setLooks] = useState(false)
  const written = history.data?.versions.find(({ version }) => version === theirs.version)
  const who = written ? `${written.by} stored version ${theirs.version} ${ageInWords(written.at, now)}` : null
  return (
    <section className={styles.conflict} aria-label="The registry was changed meanwhile" role="alert">
      <h2>The registry was changed since version {base.version}</h2>
      <p>
        {who ?? `It has version ${theirs.version} now`}. Below, − is theirs and + is yours: take theirs where it is
        right, or write it as it should be. Yours is not stored yet, and nothing of it is lost.
      </p>
      <div className={styles.actions}>
        <Button onClick={goOn}>Go on with the text below</Button>
        <Button onClick={takeTheirs}>Take all of theirs</Button>
        <Button onClick={() => setLooks(true)}>See what they changed</Button>
      </div>
      {looks && (
        <Dialog title={`From version ${base.version} to version ${theirs.version}`} close={() => setLooks(false)} wide>
          <DiffView label="What they changed" before={base.text} after={theirs.text} />
        </Dialog>
      )}
    </section>
  )
}
