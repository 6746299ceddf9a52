import { useCallback, useEffect, useMemo, useState } from 'react'
import { printableAll } from '#domain'
import type { RunList } from '#wire'
import { api, at } from '../../api/client'
import { type Connection, listen } from '../../api/live'
import type { RunSummary } from '../../parts/library'
import { type KnownRuns, newestFirst, withRuns } from './run-list'

/** So many the stream begins with. */
const FIRST = 200
/** So many older ones are asked for at once. */
const OLDER = 100

export type Runs = {
  /** Newest first; null until the first have come. */
  runs: RunSummary[] | null
  connection: Connection
  /** Whether there are older ones that are not loaded. */
  more: boolean
  older: { load: () => void; loading: boolean; error: Error | null }
}

/**
 * Before which run those are that are not loaded. Not the oldest that is known: one from long ago that somebody resumed
 * comes by the stream, without those that were between.
 */
type Older = { before: string | null; more: boolean }

function olderThan(loaded: readonly RunSummary[], more: boolean): Older {
  const last = newestFirst(withRuns(new Map(), loaded)).at(-1)
  return { before: last?.run_id ?? null, more }
}

/** The runs of this folder: the newest as they change, and as many of the older ones as somebody asked for. */
export function useRuns(): Runs {
  const [known, setKnown] = useState<KnownRuns | null>(null)
  const [connection, setConnection] = useState<Connection>('connecting')
  const [older, setOlder] = useState<Older>({ before: null, more: false })
  const [loading, setLoading] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    let first = true
    const take = (data: unknown) => {
      const came = printableAll(data as RunSummary[])
      if (first) setOlder((known) => (known.before === null ? olderThan(came, came.length >= FIRST) : known))
      first = false
      setKnown((known) => withRuns(known ?? new Map(), came))
    }
    return listen({ url: () => '/api/runs/live', on: { runs: take }, connection: setConnection })
  }, [])
  const runs = useMemo(() => (known ? newestFirst(known) : null), [known])
  const { before, more } = older
  const load = useCallback(() => {
    if (before === null) return
    setLoading(true)
    setError(null)
    api<RunList>(at`/runs?limit=${OLDER}&before=${before}`)
      .then((list) => {
        setKnown((known) => withRuns(known ?? new Map(), printableAll(list.runs)))
        setOlder(olderThan(list.runs, list.more))
      })
      .catch((error: Error) => setError(error))
      .finally(() => setLoading(false))
  }, [before])
  return { runs, connection, more, older: { load, loading, error } }
}
