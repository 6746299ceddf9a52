import { z } from 'zod'
import { principalRoleSchema } from './principal.js'

/** What became of a command of the control plane. */
export const commandOutcomeSchema = z.enum(['success', 'failure', 'denied'])
export type CommandOutcome = z.infer<typeof commandOutcomeSchema>

const asked = {
  /** Such as `agents pin`. */
  command: z.string(),
  /** What was given with it, as it was written, secrets taken out. */
  arguments: z.string(),
  principal: z.string(),
  role: principalRoleSchema,
  session_id: z.string().nullable(),
}

/**
 * The events of the control log: who changed, or tried to change, what agents there are and who is used. They belong to
 * no run. Declared once, versioned; a released version is never edited.
 */
const SCHEMAS = {
  /** Before anything is changed: somebody may, and it will be tried now. */
  'control.command_requested': z.strictObject({ request_id: z.string(), ...asked }),
  /** After it. `request_id`: that of the request; null where nothing was begun, or somebody only looked. */
  'control.command_executed': z.strictObject({
    request_id: z.string().nullable(),
    ...asked,
    outcome: commandOutcomeSchema,
    /** What the caller was told, in one line. */
    message: z.string(),
  }),
} as const

type Schemas = typeof SCHEMAS

export type NewControlEvent = {
  [T in keyof Schemas]: { type: T; version: 1; at: number; data: z.infer<Schemas[T]> }
}[keyof Schemas]

/** As the store has it: `position` from 1 without gaps, `digest` chained over the whole control log. */
export type ControlEvent = NewControlEvent & { position: number; digest: string }

/** Reads an event of the control log that crosses a border. */
export function parseControlEvent(type: string, version: number, at: number, data: unknown): NewControlEvent | null {
  if (!Object.hasOwn(SCHEMAS, type) || version !== 1) return null
  const { success } = SCHEMAS[type as keyof Schemas].safeParse(data)
  return success ? ({ type, version, at, data } as NewControlEvent) : null
}

type Executed = Extract<ControlEvent, { type: 'control.command_executed' }>

/**
 * A command as the log tells of it. `interrupted`: it was begun, and there is no word of how it ended: whoever did it is
 * gone, or still at it.
 */
export type LoggedCommand = Pick<ControlEvent, 'at' | 'position'> &
  Omit<Executed['data'], 'outcome'> & { outcome: CommandOutcome | 'interrupted' }

/** One for each command, in the order of the log: a request with a result stands where its result is. */
export function commandsIn(events: readonly ControlEvent[]): LoggedCommand[] {
  const ended = new Set(events.flatMap((event) => (isResult(event) ? (event.data.request_id ?? []) : [])))
  return events.flatMap((event): LoggedCommand[] => {
    const { at, position } = event
    if (isResult(event)) return [{ at, position, ...event.data }]
    if (ended.has(event.data.request_id)) return []
    const message = 'There is no result: it was interrupted, or is still under way.'
    return [{ at, position, ...event.data, outcome: 'interrupted', message }]
  })
}

/** The events of so many of the newest commands, requests as far as they are among these events. */
export function ofNewestCommands(events: readonly ControlEvent[], last: number): ControlEvent[] {
  const newest = last > 0 ? commandsIn(events).slice(-last) : []
  const positions = new Set(newest.map(({ position }) => position))
  const requests = new Set(newest.map(({ request_id }) => request_id))
  return events.filter((event) => {
    return positions.has(event.position) || (!isResult(event) && requests.has(event.data.request_id))
  })
}

function isResult(event: ControlEvent): event is Executed {
  return event.type === 'control.command_executed'
}
