import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type RefObject, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { criticalPath, type RunTree, type Span, type Spans, type Stretch } from '#domain'
import { at } from '../../../api/client'
import { useNow } from '../../../parts/now'
import { Empty } from '../../../parts/states'
import type { RunStore } from '../run-store'
import { useThrottled } from '../use-throttled'
import { useWidth } from '../use-width'
import { AgentRow } from './agent-row'
import { Axis } from './axis'
import { Cell } from './cell'
import { countsOf, type Filter, wantedBy } from './filter'
import type { Kind } from './kinds'
import { Legend } from './legend'
import { rowsOf } from './rows'
import { ticksOf, xOf } from './scale'
import { Toolbar } from './toolbar'
import { Tooltip, type TooltipHandle } from './tooltip'
import styles from './tree.module.css'
import { useTreeKeys } from './use-tree-keys'
import { useView } from './use-view'
import { useZoomInput } from './use-zoom-input'

const HEAD_PX = 34
const ROW_PX = 30
/** Where there is no room beside the tree, the bar is below the words. */
const NARROW_PX = 640
const NARROW_ROW_PX = 58
const NO_SPANS: readonly Span[] = []
const NO_STRETCHES: readonly Stretch[] = []
/** Bars grow and the critical path is looked for so often. */
const EVERY_MS = 500

type Props = {
  store: RunStore
  version: number
  run_id: string
  /** The agent that is open beside it. */
  chosen: string | null
  live: boolean
  search: RefObject<HTMLInputElement | null>
  grid: RefObject<HTMLDivElement | null>
}

/** Every agent of the run in a tree, and beside it on one axis what each of them did when. */
export function AgentTree({ store, version, run_id, chosen, live, search: searchBox, grid }: Props) {
  const id = useId()
  const [, navigate] = useLocation()
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [filter, setFilter] = useState<Filter>('all')
  const [search, setSearch] = useState('')
  const [legend, setLegend] = useState(() => window.innerWidth > 720)
  const frame = useRef<HTMLDivElement>(null)
  const axis = useRef<HTMLDivElement>(null)
  const tooltip = useRef<TooltipHandle>(null)
  const narrow = useWidth(frame) < NARROW_PX
  const width = useWidth(axis)

  const { events, tree, spans, interrupted } = store
  const origin = events[0]?.at ?? 0
  // Nobody knows how it goes on while the server cannot be reached.
  const ticks_on = live && store.connection !== 'lost'
  const clock = useNow(ticks_on ? EVERY_MS : null)
  const slow = useThrottled(version, EVERY_MS)
  // Where bars end that have not ended. Not the last event of each frame: everything would be drawn anew with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is changed in place, and the version says when
  const now = useMemo(() => {
    const last = events[events.length - 1]?.at ?? 0
    return live ? Math.max(clock, last) : last
  }, [events, slow, clock, live])
  const looking = useView(now - origin)
  const path = useCriticalPath(tree, slow, now)
  const kinds = useKinds(spans, slow)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree is changed in place, and the version says when
  const counts = useMemo(() => countsOf(tree, interrupted), [tree, slow, interrupted])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree is changed in place, and the version says when
  const rows = useMemo(
    () => rowsOf(tree.root, { folded, wanted: wantedBy({ filter, search, interrupted }) }),
    [tree, version, folded, filter, search, interrupted],
  )
  const row_px = narrow ? NARROW_ROW_PX : ROW_PX
  const keyOf = useCallback((i: number) => rows[i]?.agent.id ?? i, [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => row_px,
    getItemKey: keyOf,
    overscan: 8,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows get another height
  useEffect(() => virtual.measure(), [row_px])

  const fold = useCallback(
    (id: string) =>
      setFolded((folded) => {
        const next = new Set(folded)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    [],
  )
  const foldAll = useCallback(
    (all: boolean) => {
      const parents = [...tree.agents.values()].filter(({ children }) => children.length > 0)
      setFolded(new Set(all ? parents.map(({ id }) => id) : []))
    },
    [tree],
  )
  const open = useCallback((agent: string) => navigate(at`/runs/${run_id}/agents/${agent}`), [navigate, run_id])
  const { active, setActive, onKeyDown } = useTreeKeys({ rows, fold, open, chosen, show: virtual.scrollToIndex })
  useZoomInput(grid, axis, looking)

  const { view } = looking
  const { step, ticks } = ticksOf(view, width)
  const marks = {
    '--tick': `${(step / (view.to - view.from)) * width}px`,
    '--tick-x': `${ticks[0]?.x ?? 0}px`,
    '--now-x': `${live && !looking.fits ? xOf(now - origin, view, width) : -10}px`,
  } as CSSProperties
  const items = virtual.getVirtualItems()
  const seen = items.some(({ index }) => rows[index]?.agent.id === active)

  return (
    <section className={styles.section} aria-label="Agents">
      <Toolbar
        {...{ counts, filter, setFilter, search, setSearch, searchBox, looking, legend, setLegend, foldAll }}
        folded={folded.size > 0}
      />
      {legend && <Legend kinds={kinds} live={live} />}
      <div ref={frame} className={styles.frame}>
        <div
          ref={grid}
          role="treegrid"
          className={styles.grid}
          style={marks}
          tabIndex={0}
          aria-label="Agents of the run and what they did when"
          aria-rowcount={rows.length + 1}
          aria-colcount={6}
          aria-activedescendant={active !== null && seen ? `${id}-${active}` : undefined}
          onKeyDown={onKeyDown}
          onPointerMove={(event) => tooltip.current?.over(event)}
          onPointerLeave={() => tooltip.current?.leave()}
          onClick={(event) => {
            const row = event.target instanceof Element ? event.target.closest('[data-agent]') : null
            const agent = row?.getAttribute('data-agent')
            if (!agent) return
            setActive(agent)
            open(agent)
          }}
        >
          {/* biome-ignore lint/a11y/useSemanticElements: of a table all rows would have to be there */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: nothing can be done with it */}
          <div role="row" className={styles.head} aria-rowindex={1}>
            <Cell head>agent</Cell>
            <Cell head className={`${styles.number} ${styles.extra}`}>
              calls
            </Cell>
            <Cell head className={`${styles.number} ${styles.extra}`}>
              tokens
            </Cell>
            <Cell head className={styles.number}>
              cost
            </Cell>
            <Cell head className={`${styles.number} ${styles.time}`}>
              at work
            </Cell>
            <Axis ref={axis} ticks={ticks} width={width} />
          </div>
          <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, start, key }) => {
              const row = rows[index]
              if (!row) return null
              return (
                <AgentRow
                  key={key}
                  id={`${id}-${row.agent.id}`}
                  {...{ run_id, row, index, version, interrupted, origin, now, view, width, fold }}
                  start={start - HEAD_PX}
                  height={row_px}
                  active={row.agent.id === active}
                  chosen={row.agent.id === chosen}
                  spans={spans.get(row.agent.id) ?? NO_SPANS}
                  path={path.get(row.agent.id) ?? NO_STRETCHES}
                />
              )
            })}
          </div>
        </div>
        {rows.length === 0 && tree.root && (
          <Empty title="No agent is like that" below>
            Choose another filter, or search for something else.
          </Empty>
        )}
        {!tree.root && <p className={styles.none}>The run has not begun yet: its first agent will be here.</p>}
      </div>
      <Tooltip ref={tooltip} />
    </section>
  )
}

/** By agent. It is looked for now and then, not at every event: it goes through the whole tree. */
function useCriticalPath(tree: RunTree, version: number, now: number): Map<string, Stretch[]> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree is changed in place, and the version says when
  return useMemo(() => {
    const by = new Map<string, Stretch[]>()
    if (!tree.root) return by
    for (const stretch of criticalPath(tree, now)) {
      const stretches = by.get(stretch.agent_id)
      if (stretches) stretches.push(stretch)
      else by.set(stretch.agent_id, [stretch])
    }
    return by
  }, [tree, version, now])
}

/** Every kind that some bar has. */
function useKinds(spans: Spans, version: number): ReadonlySet<Kind> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the spans are changed in place, and the version says when
  return useMemo(() => {
    const kinds = new Set<Kind>()
    for (const list of spans.values()) for (const { kind } of list) kinds.add(kind)
    return kinds
  }, [spans, version])
}
