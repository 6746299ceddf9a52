import { useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { printableAll, type StoredEvent, type WatchedEvent } from '#domain'
import { api, at } from '../../../api/client'
import styles from './events.module.css'

type Props = {
  run_id: string
  event: WatchedEvent
  start: number
  open: boolean
  /** Whether it says whose event it is. */
  whose: boolean
  toggle: (position: number) => void
}

export const EventLine = memo(function EventLine({ run_id, event, start, open, whose, toggle }: Props) {
  const time = `+${((event.at - start) / 1000).toFixed(2)} s`
  return (
    <>
      <button
        type="button"
        className={`${styles.line} ${whose ? '' : styles.own}`}
        aria-expanded={open}
        onClick={() => toggle(event.position)}
      >
        <span className={styles.position}>{event.position}</span>
        <span className={styles.time}>{time}</span>
        {whose && <span className={styles.agent}>{event.agent_id}</span>}
        <span className={`${styles.type} ${TROUBLE.test(event.type) ? styles.trouble : ''}`}>{event.type}</span>
        <span className={styles.summary}>{event.summary}</span>
      </button>
      {open && <Details run_id={run_id} event={event} />}
    </>
  )
})

const TROUBLE = /failed|refused|exceeded|cancel|taken_back/

/** All of it. What was sent in short is asked for. */
function Details({ run_id, event }: { run_id: string; event: WatchedEvent }) {
  const whole = useQuery({
    queryKey: ['event', run_id, event.position],
    queryFn: async ({ signal }) =>
      printableAll(await api<StoredEvent>(at`/runs/${run_id}/events/${event.position}`, { signal })),
    enabled: event.cut,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (event.cut && whole.error) {
    return (
      <p className={styles.details} role="alert">
        {whole.error.message}
      </p>
    )
  }
  const { data, at: when, seq, digest } = whole.data ?? event
  return (
    <div className={styles.details}>
      <p className={styles.place_of}>
        {new Date(when).toLocaleString()} · {seq} of its agent · <code>{digest.slice(0, 12)}</code>
        {event.cut && !whole.data && ' · loading the rest …'}
      </p>
      <pre>{JSON.stringify(data, null, 2)}</pre>
    </div>
  )
}
