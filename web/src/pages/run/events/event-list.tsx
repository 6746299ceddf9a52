import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { WatchedEvent } from '#domain'
import type { RunStore } from '../run-store'
import { useEver } from '../use-ever'
import { EventLine } from './event-line'
import styles from './events.module.css'
import { useFiltered } from './use-filtered'

const LINE_PX = 27

type Props = {
  run_id: string
  store: RunStore
  version: number
  live: boolean
  /** Only those of this agent. null: of all, with a choice. */
  agent_id: string | null
}

/** What happened, a line each, which opens to everything that is in it. It follows the end until somebody looks back. */
export function EventList({ run_id, store, version, live, agent_id }: Props) {
  const [agent, setAgent] = useState('')
  const [type, setType] = useState('')
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const box = useRef<HTMLDivElement>(null)
  const shown = useFiltered(store, version, agent_id ?? agent, type)
  // The same function for as long as the list is the same: another one has every line measured anew.
  const keyOf = useCallback((i: number) => shown[i]?.position ?? i, [shown])
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    getItemKey: keyOf,
    overscan: 12,
    anchorTo: 'end',
    followOnAppend: useEver(live),
    scrollEndThreshold: 60,
  })
  const toggle = useCallback(
    (position: number) =>
      setOpen((open) => {
        const next = new Set(open)
        if (!next.delete(position)) next.add(position)
        return next
      }),
    [],
  )
  const start = store.events[0]?.at ?? 0
  return (
    <div className={styles.events}>
      <div className={styles.filters}>
        {agent_id === null && <AgentChoice store={store} chosen={agent} choose={setAgent} />}
        <TypeChoice store={store} version={version} chosen={type} choose={setType} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section ref={box} className={styles.box} tabIndex={0} aria-label="Events">
        <ol className={styles.lines} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start: top }) => {
            const event = shown[index] as WatchedEvent
            return (
              <li
                key={event.position}
                ref={virtual.measureElement}
                data-index={index}
                className={styles.place}
                style={{ transform: `translateY(${top}px)` }}
                aria-setsize={shown.length}
                aria-posinset={index + 1}
              >
                <EventLine
                  {...{ run_id, event, start, toggle }}
                  open={open.has(event.position)}
                  whose={agent_id === null}
                />
              </li>
            )
          })}
        </ol>
        {shown.length === 0 && <p className={styles.none}>No event is like that yet.</p>}
      </section>
    </div>
  )
}

type Choice = { store: RunStore; chosen: string; choose: (value: string) => void }

function AgentChoice({ store, chosen, choose }: Choice) {
  const { size } = store.tree.agents
  // biome-ignore lint/correctness/useExhaustiveDependencies: the map is changed in place, and only ever grows
  const ids = useMemo(() => [...store.tree.agents.keys()], [store, size])
  return (
    <select aria-label="Events of which agent" value={chosen} onChange={(event) => choose(event.target.value)}>
      <option value="">all agents</option>
      {ids.map((id) => (
        <option key={id}>{id}</option>
      ))}
    </select>
  )
}

function TypeChoice({ store, version, chosen, choose }: Choice & { version: number }) {
  const seen = useRef({ count: 0, types: new Set<string>() })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is changed in place, and the version says when
  const types = useMemo(() => {
    const { events } = store
    for (; seen.current.count < events.length; seen.current.count++) {
      seen.current.types.add((events[seen.current.count] as WatchedEvent).type)
    }
    return [...seen.current.types].sort()
  }, [store, version])
  return (
    <select aria-label="Events of which type" value={chosen} onChange={(event) => choose(event.target.value)}>
      <option value="">all types</option>
      {types.map((type) => (
        <option key={type}>{type}</option>
      ))}
    </select>
  )
}
