import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import styles from './graph.module.css'
import { type Layout, layOut, type Point, pathOf, type Sizes } from './layout'
import { stepTowards, type Way } from './moving'
import { StepCard } from './step-card'
import { edgesOf, type Overlap, type ShownStep, type StepEdge } from './steps'

const ROOMY: Sizes = { width: 200, height: 102, across: 30, down: 16 }
/** Where there are more steps than this, each has less room, so that one sees more of them at once. */
const MANY = 24
const COMPACT: Sizes = { width: 190, height: 56, across: 40, down: 10 }
/** Where more steps than this wait for others, only the lines of the chosen one are drawn: nobody reads a net. */
export const MOST_DASHED = 12
/** Around all of it, so that lines beside the first column and the focus have room. */
const EDGE = 18

const WAYS: Record<string, Way> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }

export type StepsProps = {
  run_id: string
  steps: readonly ShownStep[]
  overlaps: readonly Overlap[]
  /** Steps that a person is asked about. */
  asked: ReadonlySet<string>
  chosen: string | null
  choose: (id: string) => void
}

/** Steps from left to right in the order in which they can be done. Lines are drawn, steps are elements. */
export function Graph({ run_id, steps, overlaps, asked, chosen, choose }: StepsProps) {
  const compact = steps.length > MANY
  const sizes = compact ? COMPACT : ROOMY
  const drawing = useSame({ ids: steps.map(({ id }) => id), edges: edgesOf(steps) })
  const layout = useMemo(() => layOut(drawing.ids, drawing.edges, sizes), [drawing, sizes])
  const drawn =
    overlaps.length > MOST_DASHED
      ? overlaps.filter(({ first, second }) => first === chosen || second === chosen)
      : overlaps
  const scroller = useScrolled(toShow(steps, chosen), layout, sizes)
  const buttons = useRef(new Map<string, HTMLButtonElement>())
  const first = layout.layers[0]?.[0]
  const reachable = chosen !== null && layout.places.has(chosen) ? chosen : first
  const move = (id: string, event: KeyboardEvent) => {
    const way = WAYS[event.key]
    if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const next = stepTowards(id, way, layout)
    if (next !== null) buttons.current.get(next)?.focus()
  }
  return (
    <div className={styles.scrolls} ref={scroller}>
      {/* biome-ignore lint/a11y/useSemanticElements: these are no fields */}
      <div
        role="group"
        aria-label="Steps: arrow keys go along the lines, Enter shows more"
        className={styles.graph}
        style={{ width: layout.width + 2 * EDGE, height: layout.height + 2 * EDGE }}
      >
        <svg className={styles.lines} width="100%" height="100%" aria-hidden="true">
          <Arrows />
          <g transform={`translate(${EDGE} ${EDGE})`}>
            {layout.lines.map(({ edge, points }) => {
              const near = edge.from === chosen || edge.to === chosen
              return (
                <path
                  key={`${edge.from} ${edge.to}`}
                  className={`${styles[edge.kind]} ${near ? styles.near : ''}`}
                  d={pathOf(short(points))}
                  markerEnd={`url(#arrow-${near ? 'near' : 'plain'})`}
                />
              )
            })}
            {drawn.map((overlap) => (
              <path
                key={`${overlap.first} ${overlap.second}`}
                className={styles.overlap}
                d={overlapPath(overlap, layout.places, sizes)}
                markerEnd="url(#arrow-overlap)"
              />
            ))}
          </g>
        </svg>
        {steps.map((step) => {
          const place = layout.places.get(step.id)
          if (!place) return null
          return (
            <StepCard
              key={step.id}
              {...{ run_id, step, compact }}
              chosen={step.id === chosen}
              behind={overlaps.filter(({ second }) => second === step.id).map((one) => one.first)}
              asked={asked.has(step.id)}
              choose={() => choose(step.id)}
              style={{
                ...{ position: 'absolute', left: place.x + EDGE, top: place.y + EDGE },
                ...{ width: sizes.width, height: sizes.height },
              }}
              tab={{
                ref: (button) => {
                  if (button) buttons.current.set(step.id, button)
                  else buttons.current.delete(step.id)
                },
                tabIndex: step.id === reachable ? 0 : -1,
                onKeyDown: (event) => move(step.id, event),
              }}
            />
          )
        })}
      </div>
    </div>
  )
}

/** What is the same stays the same: how steps stand changes often, and where they are drawn does not. */
function useSame<T>(value: T): T {
  const kept = useRef(value)
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value
  return kept.current
}

/** What should be seen: the beginning, where it is at work, and what somebody chose; the last is seen in any case. */
function toShow(steps: readonly ShownStep[], chosen: string | null): string[] {
  const at_work = steps.find(({ word }) => word === 'running' || word === 'interrupted')
  return [steps[0]?.id, at_work?.id, chosen].filter((id) => typeof id === 'string')
}

/** Scrolls a graph, and not the page, until what should be seen is; not again before that is something else. */
function useScrolled(ids: readonly string[], { places }: Layout<StepEdge>, { width, height }: Sizes) {
  const scroller = useRef<HTMLDivElement>(null)
  const shown = ids.at(-1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has scrolled elsewhere stays there
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    for (const id of ids) {
      const place = places.get(id)
      if (!place) continue
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = element
      element.scrollTo({
        left: scrolledTo(scrollLeft, clientWidth, place.x, width + 2 * EDGE),
        top: scrolledTo(scrollTop, clientHeight, place.y, height + 2 * EDGE),
      })
    }
  }, [shown])
  return scroller
}

/** As little as is needed so that something of a length can be seen. */
function scrolledTo(now: number, room: number, begin: number, length: number): number {
  if (begin < now) return begin
  return begin + length > now + room ? begin + length - room : now
}

function Arrows() {
  return (
    <defs>
      {['plain', 'near', 'overlap'].map((kind) => (
        <marker
          key={kind}
          id={`arrow-${kind}`}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="9"
          markerHeight="9"
          orient="auto"
          markerUnits="userSpaceOnUse"
        >
          <path className={styles[`arrow-${kind}`]} d="M0 0.5 8 4 0 7.5Z" />
        </marker>
      ))}
    </defs>
  )
}

/** It ends just before what it leads to, so that its point can be seen. */
function short(points: readonly Point[]): Point[] {
  return points.map((point, i) => (i === points.length - 1 ? { ...point, x: point.x - 2 } : point))
}

/** Beside the column where both are in the same one, else from one to the other, below the lines of what depends. */
function overlapPath(
  { first, second }: Overlap,
  places: ReadonlyMap<string, Point & { layer: number }>,
  { width, height }: Sizes,
): string {
  const a = places.get(first)
  const b = places.get(second)
  if (!a || !b) return ''
  const low = height * 0.72
  if (a.layer === b.layer) {
    const [from, to] = [a.y + low, b.y + height * (b.y > a.y ? 0.28 : 0.9)]
    return `M${a.x} ${from}C${a.x - 18} ${from} ${b.x - 18} ${to} ${b.x - 2} ${to}`
  }
  const forth = b.layer > a.layer
  const from = { x: forth ? a.x + width : a.x, y: a.y + low }
  const to = { x: forth ? b.x - 2 : b.x + width + 2, y: b.y + low }
  return pathOf([from, to])
}
