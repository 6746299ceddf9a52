import type { CSSProperties, KeyboardEvent, Ref } from 'react'
import { Link } from 'wouter'
import { costInWords, plural, stepLabel, timeInWords } from '#domain'
import { at } from '../../api/client'
import { StepBadge, toneOf } from './step-badge'
import styles from './step-card.module.css'
import type { ShownStep } from './steps'

type Props = {
  run_id: string
  step: ShownStep
  chosen: boolean
  /** Steps that may write the same and go first. */
  behind: readonly string[]
  /** A person is being asked about it. */
  asked: boolean
  choose: () => void
  /** There is room for two lines only. */
  compact?: boolean
  style?: CSSProperties
  /** Of the button. */
  tab?: { ref: Ref<HTMLButtonElement>; tabIndex: number; onKeyDown: (event: KeyboardEvent) => void }
}

/** A step in the graph, or in the list of a phone. All of it opens the step, but for who does it. */
export function StepCard({ run_id, step, chosen, behind, asked, choose, compact = false, style, tab }: Props) {
  const { id, title, word } = step
  const classes = [styles.card, styles[toneOf(word)], chosen ? styles.chosen : '', compact ? styles.compact : '']
  return (
    <div className={classes.join(' ')} style={style}>
      <div className={styles.top}>
        <StepBadge word={word} />
        {asked && <span className={styles.asked}>waits for your yes</span>}
        <span className={styles.id} title={stepLabel(step)}>
          {id}
        </span>
      </div>
      <button type="button" className={styles.title} title={title} aria-pressed={chosen} onClick={choose} {...tab}>
        {title}
        <span className="visually-hidden">
          , {stepLabel(step)}, {word}
        </span>
      </button>
      <div className={styles.bottom}>
        <Owner run_id={run_id} step={step} />
        <Side step={step} behind={behind} />
      </div>
    </div>
  )
}

/** Who does it: the sub-agent where there is one, else whom the plan names. */
function Owner({ run_id, step: { agent, agent_id } }: { run_id: string; step: ShownStep }) {
  const name = agent ?? 'no profile'
  if (agent_id === null) return <span className={styles.owner}>{name}</span>
  return (
    <Link
      className={styles.owner}
      href={at`/runs/${run_id}/agents/${agent_id}`}
      title={`Open ${agent_id}`}
      // Who goes by keyboard finds it in the panel, after one key and not after a hundred.
      tabIndex={-1}
    >
      {name}
    </Link>
  )
}

/** The most useful that is known of it now. */
function Side({ step, behind }: { step: ShownStep; behind: readonly string[] }) {
  const { word, attempts, cost_usd, duration_ms, gates, owns } = step
  const failed = gates.filter(({ passed }) => !passed).length
  if (failed > 0) return <span className={styles.bad}>✗ {plural(failed, 'gate')}</span>
  if (word === 'running') return <span>{attempts > 1 ? `attempt ${attempts}` : ''}</span>
  if (attempts > 0 && word !== 'interrupted') {
    return (
      <span className={styles.figures} title={costInWords(cost_usd)}>
        {cost_usd === null ? '' : `${costInWords(cost_usd)} · `}
        {timeInWords(duration_ms)}
      </span>
    )
  }
  if (word === 'waiting' && behind.length > 0) {
    return <span className={styles.behind}>after {behind.join(', ')}</span>
  }
  return <span className={styles.files}>{owns ? (owns.length === 0 ? 'writes nothing' : owns.join(', ')) : ''}</span>
}
