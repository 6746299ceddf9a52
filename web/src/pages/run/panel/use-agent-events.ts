import { useEffect, useState } from 'react'
import type { StoredEvent } from '#domain'
import type { AgentEvents } from '#wire'
import { api, at } from '../../../api/client'

type Loaded = { events: StoredEvent[]; done: boolean; error: Error | null }

/** The whole events of one agent, page by page, and those that come while it is looked at. `newest`: its last position. */
export function useAgentEvents(run_id: string, agent_id: string, newest: number): Loaded & { retry: () => void } {
  const [loaded, setLoaded] = useState<Loaded>({ events: [], done: false, error: null })
  const [tries, setTries] = useState(0)
  const after = loaded.events[loaded.events.length - 1]?.position ?? 0
  const wanted = !loaded.done || after < newest
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for once for each page, and again when somebody says so
  useEffect(() => {
    if (!wanted) return
    const stop = new AbortController()
    api<AgentEvents>(at`/runs/${run_id}/agents/${agent_id}/events?after=${after}&limit=200`, { signal: stop.signal })
      .then(({ events, more }) =>
        setLoaded((before) => ({ events: [...before.events, ...events], done: !more, error: null })),
      )
      .catch((error: Error) => {
        if (!stop.signal.aborted) setLoaded((before) => ({ ...before, error }))
      })
    return () => stop.abort()
  }, [run_id, agent_id, after, wanted, tries])
  return { ...loaded, retry: () => setTries((tries) => tries + 1) }
}
