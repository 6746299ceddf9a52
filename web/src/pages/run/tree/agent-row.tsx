import { memo } from 'react'
import { Link } from 'wouter'
import {
  costInWords,
  countInWords,
  doingOf,
  doingWords,
  type Span,
  type Stretch,
  type TreeAgent,
  timeAtWork,
  timeInWords,
} from '#domain'
import { at } from '../../../api/client'
import { Bar } from './bar'
import { Cell } from './cell'
import type { Row } from './rows'
import type { View } from './scale'
import { type Standings, standingIn, standingWord } from './standing'
import styles from './tree.module.css'

const SIGNS: Record<Standings, string> = {
  waiting: '○',
  at_work: '●',
  interrupted: '◐',
  completed: '✓',
  incomplete: '◐',
  failed: '✗',
}

type Props = {
  id: string
  run_id: string
  row: Row<TreeAgent>
  index: number
  start: number
  height: number
  version: number
  /** Nobody works on the run. */
  interrupted: boolean
  active: boolean
  chosen: boolean
  spans: readonly Span[]
  path: readonly Stretch[]
  origin: number
  now: number
  view: View
  width: number
  fold: (id: string) => void
}

/** One agent: who it is and what it does on the left, when it did what on the right. */
export const AgentRow = memo(function AgentRow(props: Props) {
  const { id, run_id, row, index, start, height, version, active, chosen, spans, path, origin, now, view, width } =
    props
  const { agent, level, guides, open, found, place, siblings } = row
  const standing = standingIn(agent, props.interrupted)
  const asks = standing === 'at_work' && doingOf(agent).kind === 'waiting_for_person'
  // A subtree that is folded stands for all in it.
  const figures = open === false ? agent.all : agent.own
  const words = standing === 'interrupted' ? 'interrupted' : doingWords(agent)
  return (
    // biome-ignore lint/a11y/useSemanticElements: of a table all rows would have to be there
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus, and says which row is meant
    <div
      id={id}
      role="row"
      className={`${styles.row} ${found ? '' : styles.passed} ${path.length > 0 ? styles.onPath : ''}`}
      style={{ height, transform: `translateY(${start}px)` }}
      aria-level={level + 1}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-rowindex={index + 2}
      aria-selected={chosen}
      {...(open === null ? {} : { 'aria-expanded': open })}
      data-active={active || undefined}
      data-agent={agent.id}
    >
      <Cell className={styles.who}>
        <Guides guides={guides} />
        {open === null ? (
          <span className={styles.fold} />
        ) : (
          <button
            type="button"
            tabIndex={-1}
            className={styles.fold}
            aria-label={open ? `Fold ${agent.id}` : `Unfold ${agent.id}`}
            onClick={(event) => {
              event.stopPropagation()
              props.fold(agent.id)
            }}
          >
            {open ? '▾' : '▸'}
          </button>
        )}
        <span className={`${styles.sign} ${asks ? styles.asks : styles[standing]}`}>
          <span aria-hidden="true">{asks ? '?' : SIGNS[standing]}</span>
          <span className="visually-hidden">{standingWord(agent, standing)}</span>
        </span>
        <Link
          href={at`/runs/${run_id}/agents/${agent.id}`}
          className={styles.id}
          tabIndex={-1}
          onClick={(event) => event.stopPropagation()}
        >
          {agent.id}
        </Link>
        {agent.profile !== null && <span className={styles.profile}>{agent.profile}</span>}
        <span className={styles.title} title={agent.title}>
          {agent.title}
        </span>
        {agent.adjustments.length > 0 && (
          <span className={styles.clamped} title={agent.adjustments.map(({ field }) => field).join(', ')}>
            clamped
          </span>
        )}
        <span className={`${styles.doing} ${asks ? styles.asks : ''}`} title={words}>
          {words}
        </span>
      </Cell>
      <Cell className={`${styles.number} ${styles.extra}`}>
        {figures.tool_calls > 0 ? countInWords(figures.tool_calls) : ''}
      </Cell>
      <Cell className={`${styles.number} ${styles.extra}`}>
        {figures.tokens > 0 ? countInWords(figures.tokens) : ''}
      </Cell>
      <Cell className={styles.number}>
        {figures.cost_usd === null ? (
          <>
            <span className={styles.what}>cost </span>unknown
          </>
        ) : (
          figures.tokens > 0 && costInWords(figures.cost_usd)
        )}
      </Cell>
      <Cell className={`${styles.number} ${styles.time}`}>
        {agent.started_at === null ? '' : timeInWords(Math.round(timeAtWork(agent, now)))}
      </Cell>
      <Cell className={styles.when}>
        <Bar spans={spans} grown={version} path={path} origin={origin} now={now} view={view} width={width} />
      </Cell>
    </div>
  )
})

/** Lines that lead from an agent to those below it. */
function Guides({ guides }: { guides: readonly boolean[] }) {
  return guides.map((goes_on, i) => {
    const last = i === guides.length - 1
    const shape = last ? (goes_on ? styles.fork : styles.corner) : goes_on ? styles.through : ''
    // biome-ignore lint/suspicious/noArrayIndexKey: a level is its own key
    return <span key={i} className={`${styles.guide} ${shape}`} aria-hidden="true" />
  })
}
