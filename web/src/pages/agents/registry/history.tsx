import { useState } from 'react'
import { ageInWords, NO_AGENTS } from '#domain'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { useNow } from '../../../parts/now'
import { type StoredVersion, useRegistryHistory } from '../data'
import { DiffView } from './diff-view'
import { registryText } from './draft'
import styles from './registry.module.css'

type Props = { stored: { version: number; text: string }; restore: ((text: string) => void) | null }

/** All versions, the newest first. One can be looked at, compared, and put into the editor, where it is not saved yet. */
export function History({ stored, restore }: Props) {
  const { data, error } = useRegistryHistory(stored.version)
  const [chosen, setChosen] = useState<number | null>(null)
  const now = useNow(60_000)
  const versions = [...(data?.versions ?? [])].reverse()
  const at = versions.findIndex(({ version }) => version === chosen)
  const shown = versions[at]
  return (
    <section className={styles.side} aria-label="History">
      <h2>History</h2>
      {error && <p role="alert">{error.message}</p>}
      {data && versions.length === 0 && <p className={styles.quiet}>The registry was never written.</p>}
      <ol className={styles.versions}>
        {versions.map((one) => (
          <li key={one.version}>
            <button type="button" className={styles.version} onClick={() => setChosen(one.version)}>
              <strong>Version {one.version}</strong>
              {one.version === stored.version && <span className={styles.current}>stored now</span>}
              <span className={styles.quiet}>
                {one.by}, <time dateTime={new Date(one.at).toISOString()}>{ageInWords(one.at, now)}</time>
              </span>
              <span className={styles.handles}>{handlesIn(one)}</span>
            </button>
          </li>
        ))}
      </ol>
      {shown && (
        <Version
          one={shown}
          before={versions[at + 1] ?? null}
          stored={stored}
          restore={restore}
          close={() => setChosen(null)}
        />
      )}
    </section>
  )
}

type Against = 'before' | 'stored' | 'nothing'
type VersionProps = Props & { one: StoredVersion; before: StoredVersion | null; close: () => void }

function Version({ one, before, stored, restore, close }: VersionProps) {
  const is_stored = one.version === stored.version
  const [against, setAgainst] = useState<Against>('before')
  const text = textOf(one)
  const other = { before: textOf(before), stored: stored.text, nothing: null }[against]
  const ways: [Against, string][] = [
    ['before', before ? `What changed since version ${before.version}` : 'What was written'],
    ...(is_stored ? [] : [['stored', `From what is stored now (version ${stored.version})`] as [Against, string]]),
    ['nothing', 'The whole text'],
  ]
  return (
    <Dialog title={`Version ${one.version} of the registry`} close={close} wide>
      <div className={styles.stack}>
        <p className={styles.quiet}>
          Written by {one.by} on{' '}
          <time dateTime={new Date(one.at).toISOString()}>{new Date(one.at).toLocaleString()}</time>
          {one.value === null && '. It removed the registry.'}
        </p>
        <fieldset className={styles.ways}>
          <legend className="visually-hidden">What is shown</legend>
          {ways.map(([way, name]) => (
            <label key={way}>
              <input type="radio" name="against" checked={against === way} onChange={() => setAgainst(way)} /> {name}
            </label>
          ))}
        </fieldset>
        <DiffView label={`Version ${one.version}`} before={other} after={text} />
        <div className={styles.actions}>
          {restore && !is_stored && (
            <Button
              kind="main"
              onClick={() => {
                restore(text)
                close()
              }}
            >
              Put it into the editor
            </Button>
          )}
          <Button onClick={close}>Close</Button>
          {restore && !is_stored && <span className={styles.quiet}>Nothing is stored until you save it.</span>}
        </div>
      </div>
    </Dialog>
  )
}

/** A version that is not there is one without agents. */
function textOf(version: StoredVersion | null): string {
  return registryText(version?.value ?? NO_AGENTS)
}

function handlesIn({ value }: StoredVersion): string {
  if (value === null) return 'removed'
  return value.agents.map(({ agentId }) => agentId).join(', ') || 'no agents'
}
