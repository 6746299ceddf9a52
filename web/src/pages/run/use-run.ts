import { useEffect, useState, useSyncExternalStore } from 'react'
import { printableAll, type WatchedEvent } from '#domain'
import type { RunDetail } from '#wire'
import { at } from '../../api/client'
import { listen } from '../../api/live'
import { RunStore } from './run-store'

/** A run as it is and becomes. `enabled`: there is such a run. The version is what renders; the store has the rest. */
export function useRun(run_id: string, enabled: boolean): { store: RunStore; version: number } {
  const [store] = useState(() => new RunStore((then) => window.requestAnimationFrame(then)))
  useEffect(() => {
    if (enabled) return follow(run_id, store)
  }, [run_id, enabled, store])
  const version = useSyncExternalStore(store.subscribe, store.version)
  return { store, version }
}

/** How long it waits before it asks again for what was missing, so that a stream with a hole in it is no storm. */
const AGAIN_MS = 500

function follow(run_id: string, store: RunStore): () => void {
  let stop = () => {}
  let timer: number | undefined
  const open = () => {
    stop = listen({
      url: () => `/api${at`/runs/${run_id}/live?after=${store.position}`}`,
      on: {
        events: (data) => {
          if (store.take(printableAll(data as WatchedEvent[]))) return
          stop()
          timer = window.setTimeout(open, AGAIN_MS)
        },
        run: (data) => store.setDetail(printableAll(data as RunDetail)),
      },
      connection: (connection) => store.setConnection(connection),
    })
  }
  open()
  return () => {
    window.clearTimeout(timer)
    stop()
  }
}
