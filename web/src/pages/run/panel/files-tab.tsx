import { useQuery } from '@tanstack/react-query'
import { landingInWords, landingLeftOutInWords, printableAll, receiptInWords } from '#domain'
import type { AgentDetail, DiffText } from '#wire'
import { api, at } from '../../../api/client'
import { Button } from '../../../parts/button'
import { Loading } from '../../../parts/states'
import { DiffView } from '../diff/diff-view'
import styles from './panel.module.css'

/** What became of its work, which code can hold it to: branch, commits, files, merge; what it read; and the lines. */
type Props = { run_id: string; detail: AgentDetail; showDiff: () => void }

export function FilesTab({ run_id, detail, showDiff }: Props) {
  const { result, worktree, asked_by } = detail
  const { receipt, landing, files_changed = [], files_read = [] } = result ?? {}
  const landed = landing ? landingInWords(landing, run_id) : []
  const left_out = landing ? landingLeftOutInWords(landing, run_id) : null
  const works_apart = receipt !== undefined || worktree !== null || landing !== undefined
  return (
    <div className={styles.scroll}>
      {receipt && (
        <section className={styles.part}>
          <h3>Receipt</h3>
          <dl className={styles.rows}>
            {receiptInWords(receipt).map(([label, text]) => (
              <div key={label} className={styles.pair}>
                <dt>{label}</dt>
                <dd className={`${styles.text} mono`}>{text}</dd>
              </div>
            ))}
          </dl>
          <Gates gates={receipt.gates} />
        </section>
      )}
      {(landed.length > 0 || left_out !== null) && (
        <section className={styles.part}>
          <h3>In the folder</h3>
          {[...landed, ...(left_out === null ? [] : [left_out])].map((text) => (
            <p key={text} className={styles.text}>
              {text}
            </p>
          ))}
        </section>
      )}
      <section className={styles.part}>
        <h3>Files</h3>
        <FileList
          name="changed"
          files={files_changed}
          none={result ? 'It changed no file.' : 'It has not ended yet.'}
        />
        <FileList name="read" files={files_read} none={null} />
      </section>
      {works_apart && (
        <section className={styles.part}>
          <h3>Diff</h3>
          {receipt?.merged ? (
            <p className={styles.faint}>
              Its work was merged: what it changed is part of the diff of the run.{' '}
              <Button onClick={showDiff}>Show the diff of the run</Button>
            </p>
          ) : (
            <LoadedDiff
              path={asked_by === null ? at`/runs/${run_id}/diff` : at`/runs/${run_id}/agents/${detail.id}/diff`}
            />
          )}
        </section>
      )}
    </div>
  )
}

function Gates({ gates }: { gates: readonly { what: string; stage: string; passed: boolean }[] }) {
  return gates.map(({ what, stage, passed }) => (
    <p key={`${what} ${stage}`} className={styles.text}>
      <span className={passed ? styles.good : styles.bad} aria-hidden="true">
        {passed ? '✓' : '✗'}
      </span>{' '}
      check {stage === 'after_merge' ? 'after the merge ' : ''}
      {passed ? 'passed' : 'failed'}: <code>{what}</code>
    </p>
  ))
}

function FileList({ name, files, none }: { name: string; files: readonly string[]; none: string | null }) {
  if (files.length === 0) return none === null ? null : <p className={styles.faint}>{none}</p>
  return (
    <details open={files.length <= 12} className={styles.check}>
      <summary>
        {name}: {files.length}
      </summary>
      <ul className={styles.files}>
        {files.map((path) => (
          <li key={path}>{path}</li>
        ))}
      </ul>
    </details>
  )
}

/** A diff of the server. There may be none, and the server says why. */
export function LoadedDiff({ path }: { path: string }) {
  const diff = useQuery({
    queryKey: ['diff', path],
    queryFn: async ({ signal }) => printableAll(await api<DiffText>(path, { signal })),
    staleTime: 0,
  })
  if (diff.error) return <p className={styles.faint}>{diff.error.message}</p>
  if (!diff.data) return <Loading what="the diff" />
  if (diff.data.diff.trim() === '') return <p className={styles.faint}>Nothing is changed.</p>
  return (
    <>
      {diff.data.cut && <p className={styles.faint}>It is too long for a page: this is its beginning.</p>}
      <DiffView diff={diff.data.diff} />
    </>
  )
}
