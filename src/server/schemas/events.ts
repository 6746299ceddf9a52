import { z } from 'zod'
import { DEFINITIONS, type StoredEvent, type WatchedEvent } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { time } from './common.js'

const placement = {
  version: z.literal(1),
  at: time,
  run_id: z.string(),
  agent_id: z.string(),
  seq: z.int().min(1),
  position: z.int().min(1),
  digest: z.string(),
}

/** The types of events are in the manifest of the domain; a list that is made from it has lost them, so they are said. */
function eventSchema<E>(more: z.ZodRawShape): z.ZodType<E, E> {
  const options = DEFINITIONS.map(({ type, data }) =>
    z.strictObject({ type: z.literal(type), data, ...placement, ...more }),
  )
  return z.discriminatedUnion('type', options as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>]) as never
}

export const storedEventSchema = eventSchema<StoredEvent>({})

export const watchedEventSchema = eventSchema<WatchedEvent>({
  summary: z.string().describe('The event in a line.'),
  cut: z.boolean().describe('Long texts and lists of it are cut short here; the log has all of them.'),
})

export const eventPageSchema = shape<wire.EventPage>()(
  z.strictObject({ events: z.array(watchedEventSchema), more: z.boolean() }),
)

export const agentEventsSchema = shape<wire.AgentEvents>()(
  z.strictObject({ events: z.array(storedEventSchema), more: z.boolean() }),
)
