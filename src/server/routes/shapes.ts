import { z } from 'zod'
import type { Principal, Retinue } from '../../index.js'
import { sessionIdSchema } from '../schemas/common.js'

/** What parameters must look like. Whatever does not is refused before anything is looked up. */

const runId = z.string().regex(/^[0-9a-z]{1,32}$/, 'must be the id of a run: lower-case letters and digits')
const agentId = z
  .string()
  .regex(/^(root|a\d{1,6}(\.\d{1,6}){0,31})$/, 'must be the id of an agent, such as root, a1 or a2.1')

/** A whole number as it is written in a path or a query. */
const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))

const position = whole(1, Number.MAX_SAFE_INTEGER)

export const nothing = z.strictObject({})
export const inRun = z.strictObject({ run: runId })
export const atEvent = z.strictObject({ run: runId, position })
export const atAgent = z.strictObject({ run: runId, agent: agentId })
export const inSession = z.strictObject({ session_id: sessionIdSchema.optional() })

/** So many events are sent at once. */
const MOST_EVENTS = 1000

export const eventPage = z.strictObject({
  after: whole(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: whole(1, MOST_EVENTS).default(200),
})

export const streamFrom = z.strictObject({ after: whole(0, Number.MAX_SAFE_INTEGER).default(0) })

/** What a person says in a few words. */
export const reason = z.string().min(1).max(1000).optional()

export { agentId, runId, whole }

/** How the library knows somebody: the person whose process this is has no name there. */
export function nameOf(retinue: Retinue, { id }: Principal): string | undefined {
  return id === retinue.control().principal.id ? undefined : id
}
