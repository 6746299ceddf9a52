import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type CallEnd, type TranscriptEntry, timeInWords } from '#domain'
import { at } from '../../../api/client'
import { ModelText } from '../../../parts/model-text'
import styles from './transcript.module.css'
import { wholeOutput } from './whole-output'

type Call = Extract<TranscriptEntry, { kind: 'call' }>
type Props = { run_id: string; entry: TranscriptEntry; open: boolean; toggle: (key: string) => void }

/** One thing that the agent was told, said or did. */
export function EntryView({ run_id, entry, open, toggle }: Props) {
  switch (entry.kind) {
    case 'task':
      return (
        <div className={styles.task}>
          <div className={styles.label}>task</div>
          <ModelText text={entry.text} />
        </div>
      )
    case 'said':
      return (
        <div className={styles.said}>
          <div className={styles.label}>
            {entry.purpose === 'turn' ? 'says' : entry.purpose} <span className={styles.model}>{entry.model}</span>
          </div>
          {entry.reasoning !== '' && (
            <details className={styles.reasoning}>
              <summary>reasoning</summary>
              <div>{entry.reasoning}</div>
            </details>
          )}
          {entry.text === '' && entry.reasoning === '' ? (
            <p className={styles.faint}>It said nothing.</p>
          ) : (
            <ModelText text={entry.text} />
          )}
        </div>
      )
    case 'note':
      return <p className={styles.note}>{entry.text}</p>
    case 'call':
      return <CallView run_id={run_id} call={entry} open={open} toggle={() => toggle(entry.call_id)} />
  }
}

const SIGNS: Record<CallEnd['status'], string> = {
  ok: '✓',
  error: '✗',
  timeout: '✗',
  cancelled: '✗',
  interrupted: '✗',
  refused: '⊘',
}

function CallView({ run_id, call, open, toggle }: { run_id: string; call: Call; open: boolean; toggle: () => void }) {
  const { tool, summary, args, ended } = call
  const fine = ended?.status === 'ok'
  return (
    <div className={styles.call}>
      <button type="button" className={styles.line} aria-expanded={open} onClick={toggle}>
        <span className={ended === null ? styles.busy : fine ? styles.good : styles.bad} aria-hidden="true">
          {ended === null ? '●' : SIGNS[ended.status]}
        </span>
        <code className={styles.tool}>{tool}</code>
        <span className={styles.summary}>{summary}</span>
        <span className={styles.took}>
          {ended === null ? 'under way' : fine ? timeInWords(ended.duration_ms) : ended.status}
        </span>
      </button>
      {open && (
        <div className={styles.inside}>
          <div className={styles.label}>arguments</div>
          <pre>{typeof args === 'string' ? args : JSON.stringify(args, null, 2)}</pre>
          {ended && <Result run_id={run_id} ended={ended} />}
        </div>
      )}
    </div>
  )
}

/** What came of it, as the model got to see it; and all of it, where there is more. */
function Result({ run_id, ended }: { run_id: string; ended: CallEnd }) {
  const [whole, setWhole] = useState(false)
  const path = ended.position === null ? '' : at`/runs/${run_id}/events/${ended.position}/output`
  const output = useQuery({
    queryKey: ['output', path],
    queryFn: ({ signal }) => wholeOutput(path, signal),
    enabled: whole,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <div className={styles.label}>{whole && output.data !== undefined ? 'whole output' : 'result'}</div>
      <pre>{(whole ? output.data : undefined) ?? (ended.content === '' ? 'It said nothing.' : ended.content)}</pre>
      {ended.whole_output && ended.position !== null && (
        <button type="button" className={styles.more} onClick={() => setWhole(!whole)}>
          {whole ? (output.isLoading ? 'Loading …' : 'Show what the model saw') : 'Show the whole output'}
        </button>
      )}
      {whole && output.error && (
        <p className={styles.bad} role="alert">
          {output.error.message}
        </p>
      )}
    </>
  )
}
