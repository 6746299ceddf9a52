import { useEffect, useRef, useState } from 'react'
import { printableAll, type StoredEvent } from '#domain'
import type { AgentEvents } from '#wire'
import { api, at } from '../../../api/client'
import type { Connection } from '../../../api/live'
import { useThrottled } from '../use-throttled'

/** `failed_at`: what was new when it failed; null: it did not, or somebody said to try again. */
type Loaded = { events: StoredEvent[]; done: boolean; error: Error | null; failed_at: string | null }

/** After a failure it is asked again when something is new, but not more often than this. */
const AGAIN_MS = 1_000

/** The last event of the agent, and how the connection is. */
type News = { newest: number; connection: Connection }

/** The whole events of one agent, page by page, and those that come while it is looked at. */
export function useAgentEvents(run_id: string, agent_id: string, { newest, connection }: News) {
  const [loaded, setLoaded] = useState<Loaded>({ events: [], done: false, error: null, failed_at: null })
  const news = useThrottled(`${newest} ${connection}`, AGAIN_MS)
  const latest = useRef(news)
  latest.current = news
  const { events, done, error, failed_at } = loaded
  const after = events[events.length - 1]?.position ?? 0
  const wanted = (!done || after < newest) && failed_at !== news
  useEffect(() => {
    if (!wanted) return
    const stop = new AbortController()
    api<AgentEvents>(at`/runs/${run_id}/agents/${agent_id}/events?after=${after}&limit=200`, { signal: stop.signal })
      .then(({ events, more }) =>
        setLoaded((before) => {
          return { events: [...before.events, ...printableAll(events)], done: !more, error: null, failed_at: null }
        }),
      )
      .catch((error: Error) => {
        if (!stop.signal.aborted) setLoaded((before) => ({ ...before, error, failed_at: latest.current }))
      })
    return () => stop.abort()
  }, [run_id, agent_id, after, wanted])
  return { events, done, error, retry: () => setLoaded((before) => ({ ...before, failed_at: null })) }
}
