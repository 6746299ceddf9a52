import type { RunSummary, Standing } from './library'
import styles from './status.module.css'

type Tone = 'running' | 'good' | 'bad' | 'warn' | 'wait' | 'none'

/** A word with a colour and a sign, so that it can be told without the colour. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`${styles.badge} ${styles[tone]}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {children}
    </span>
  )
}

const SIGNS: Record<Tone, string> = { running: '●', good: '✓', bad: '✗', warn: '◐', wait: '◌', none: '○' }

/** How a run stands: its outcome in the words of the log, and what it is before that. */
export function RunStatus({
  run,
}: {
  run: Pick<RunSummary, 'status' | 'outcome' | 'paused' | 'waits_for_worker'> & { asks?: number }
}) {
  if (run.status === 'running' && (run.asks ?? 0) > 0) return <Badge tone="wait">waits for you</Badge>
  if (run.waits_for_worker) return <Badge tone="wait">waits for a worker</Badge>
  if (run.status === 'running') return <Badge tone="running">running</Badge>
  if (run.paused) return <Badge tone="warn">paused</Badge>
  if (run.status === 'interrupted') return <Badge tone="warn">interrupted</Badge>
  const tone = run.outcome === 'completed' ? 'good' : run.outcome === 'budget_exceeded' ? 'warn' : 'bad'
  return <Badge tone={tone}>{run.outcome ?? 'closed'}</Badge>
}

export const STANDING_TONES: Record<Standing | 'interrupted', Tone> = {
  waiting: 'none',
  at_work: 'running',
  interrupted: 'warn',
  completed: 'good',
  incomplete: 'warn',
  failed: 'bad',
}
