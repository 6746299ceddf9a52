import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useMemo, useRef, useState } from 'react'
import { transcriptOf } from '#domain'
import type { Connection } from '../../../api/live'
import { Button } from '../../../parts/button'
import { Empty, Failure, Loading } from '../../../parts/states'
import { useEver } from '../use-ever'
import { EntryView } from './entry-view'
import styles from './transcript.module.css'
import { useAgentEvents } from './use-agent-events'

type Props = { run_id: string; agent_id: string; live: boolean; newest: number; connection: Connection }

/** What the agent was told, said and did. It follows the end while there is more to come, unless somebody looks back. */
export function TranscriptTab({ run_id, agent_id, live, newest, connection }: Props) {
  const { events, done, error, retry } = useAgentEvents(run_id, agent_id, { newest, connection })
  const entries = useMemo(() => transcriptOf(events), [events])
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const box = useRef<HTMLDivElement>(null)
  const keyOf = useCallback((i: number) => entryKey(entries[i]) ?? i, [entries])
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (entries[i]?.kind === 'said' ? 120 : 38),
    getItemKey: keyOf,
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: useEver(live),
    scrollEndThreshold: 80,
  })
  const toggle = useCallback(
    (call_id: string) =>
      setOpen((open) => {
        const next = new Set(open)
        if (!next.delete(call_id)) next.add(call_id)
        return next
      }),
    [],
  )
  if (error && entries.length === 0) return <Failure below error={error} retry={retry} />
  if (!done && entries.length === 0) return <Loading what="the transcript" />
  if (entries.length === 0)
    return (
      <Empty title="It has not begun yet" below>
        What it is told and says will be here.
      </Empty>
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section ref={box} className={styles.box} tabIndex={0} aria-label="Transcript">
      <div className={styles.entries} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const entry = entries[index]
          if (!entry) return null
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={styles.place}
              style={{ transform: `translateY(${start}px)` }}
            >
              <EntryView
                run_id={run_id}
                entry={entry}
                open={entry.kind === 'call' && open.has(entry.call_id)}
                toggle={toggle}
              />
            </div>
          )
        })}
      </div>
      {error && (
        <p className={styles.failed} role="alert">
          What comes after this could not be loaded: {error.message} <Button onClick={retry}>Try again</Button>
        </p>
      )}
    </section>
  )
}

/** Several calls can come from one answer. */
function entryKey(entry: ReturnType<typeof transcriptOf>[number] | undefined): string | undefined {
  return entry && `${entry.position} ${entry.kind === 'call' ? entry.call_id : entry.kind}`
}
