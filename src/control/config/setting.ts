import { z } from 'zod'
import type { NameFault } from './tools.js'

/**
 * What documentation says about a setting beyond its meaning. The names are JSON Schema's. `default_text` is for a
 * default that is no plain value, `user_only` marks what a project's file may not say.
 */
type Notes = { default?: unknown; default_text?: string; examples?: unknown[]; user_only?: true }

/** An optional setting. Its meaning and notes are all that documentation is made from. */
export function setting<S extends z.ZodType>(schema: S, description: string, notes: Notes = {}) {
  return schema.meta({ description, ...notes }).optional()
}

/** Text that a function finds no fault with. */
export function checked(faultOf: (text: string) => string | null) {
  return named((text) => {
    const message = faultOf(text)
    return message === null ? null : { message, nearest: null }
  })
}

/** Patterns are compiled, so their length is bounded before anything looks at them. */
const MAX_TEXT = 500

/** The same for names, whose fault may know what was meant. */
export function named(faultOf: (text: string) => NameFault | null) {
  return z.string().superRefine((text, context) => {
    const fault =
      text.length > MAX_TEXT ? { message: `longer than ${MAX_TEXT} characters`, nearest: null } : faultOf(text)
    if (fault) context.addIssue({ code: 'custom', message: fault.message, params: { nearest: fault.nearest } })
  })
}

/** The name of an environment variable. A value put in its place is never repeated in a message. */
export function variableName(butNot: string) {
  return z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, `must be the name of an environment variable, ${butNot}`)
}
