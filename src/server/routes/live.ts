import { z } from 'zod'
import { RetinueError } from '../../index.js'
import { type Asked, type Route, route } from '../route.js'
import { watchedEventSchema } from '../schemas/events.js'
import { listedRunSchema, runDetailSchema } from '../schemas/runs.js'
import { inRun, nothing, streamFrom } from './shapes.js'

const stream = { method: 'GET', least: 'viewer', body: null, answers: 'stream' } as const

export const LIVE_ROUTES: Route[] = [
  route({
    ...stream,
    path: '/runs/live',
    summary: 'Server-sent events: the newest runs, then those that are new or have changed.',
    params: nothing,
    query: nothing,
    messages: { data: { runs: z.array(listedRunSchema) }, goes_on_after: null },
    handle: async (asked, { live }) => live.runs(watcherOf(asked)),
  }),
  route({
    ...stream,
    path: '/runs/:run/live',
    summary: 'Server-sent events of a run as it goes on, after a position or after the Last-Event-ID.',
    params: inRun,
    query: streamFrom,
    messages: {
      data: { run: runDetailSchema, events: z.array(watchedEventSchema), end: nothing },
      goes_on_after: 'events',
    },
    handle: async (asked, { live }) => {
      const { params, query, last_event_id } = asked
      const from =
        last_event_id === null ? { ...query, again: false } : { after: positionIn(last_event_id), again: true }
      return live.run(params.run, from, watcherOf(asked))
    },
  }),
]

function watcherOf({ principal, address, signal }: Asked<unknown, unknown, unknown>) {
  return { who: `${principal.id} ${address}`, signal }
}

function positionIn(id: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new RetinueError('input', 'The Last-Event-ID must be the position of an event')
}
