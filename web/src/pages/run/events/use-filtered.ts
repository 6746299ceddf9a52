import { useMemo, useRef } from 'react'
import type { WatchedEvent } from '#domain'
import type { RunStore } from '../run-store'

/** The events of an agent and of a type ('': of any), found by looking only at those that are new. */
export function useFiltered({ events }: RunStore, version: number, agent: string, type: string): WatchedEvent[] {
  const found = useRef({ events, agent, type, seen: 0, list: [] as WatchedEvent[] })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is changed in place, and the version says when
  return useMemo(() => {
    if (agent === '' && type === '') return events
    let so_far = found.current
    if (so_far.events !== events || so_far.agent !== agent || so_far.type !== type) {
      so_far = { events, agent, type, seen: 0, list: [] }
    }
    for (; so_far.seen < events.length; so_far.seen++) {
      const event = events[so_far.seen] as WatchedEvent
      if ((agent === '' || event.agent_id === agent) && (type === '' || event.type === type)) so_far.list.push(event)
    }
    found.current = so_far
    return so_far.list
  }, [events, version, agent, type])
}
