import { z } from 'zod'
import { principalRoleSchema } from './principal.js'

/** What became of a command of the control plane. */
export const commandOutcomeSchema = z.enum(['success', 'failure', 'denied'])
export type CommandOutcome = z.infer<typeof commandOutcomeSchema>

/**
 * The events of the control log: who changed, or tried to change, what agents there are and who is used. They belong to
 * no run. Declared once, versioned; a released version is never edited.
 */
export const commandExecutedSchema = z.strictObject({
  /** Such as `agents pin`. */
  command: z.string(),
  /** What was given with it, as it was written, secrets taken out. */
  arguments: z.string(),
  principal: z.string(),
  role: principalRoleSchema,
  outcome: commandOutcomeSchema,
  /** What the caller was told, in one line. */
  message: z.string(),
  session_id: z.string().nullable(),
})

export type NewControlEvent = {
  type: 'control.command_executed'
  version: 1
  at: number
  data: z.infer<typeof commandExecutedSchema>
}

/** As the store has it: `position` from 1 without gaps, `digest` chained over the whole control log. */
export type ControlEvent = NewControlEvent & { position: number; digest: string }

/** Reads an event of the control log that crosses a border. */
export function parseControlEvent(type: string, version: number, at: number, data: unknown): NewControlEvent | null {
  if (type !== 'control.command_executed' || version !== 1) return null
  return commandExecutedSchema.safeParse(data).success ? ({ type, version, at, data } as NewControlEvent) : null
}
