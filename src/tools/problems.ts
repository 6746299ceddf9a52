import type { z } from 'zod'
import { describe } from './parse.js'

/** One thing that is wrong with a call's arguments. `missing` names an argument that is required and absent. */
export type Problem = { message: string; missing: string | null }

/** What a zod schema finds wrong with a value, in words that a model can act on. */
export function zodProblems(schema: z.ZodType, value: unknown): Problem[] {
  const parsed = schema.safeParse(value)
  return parsed.success ? [] : parsed.error.issues.map((issue) => problemOf(issue, value))
}

const TYPE_NAMES: Readonly<Record<string, string>> = { int: 'integer', array: 'list', record: 'object' }

function problemOf(issue: z.core.$ZodIssue, value: unknown): Problem {
  const at = valueAt(value, issue.path)
  const where = issue.path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`))
  const name = where.join('') || 'arguments'
  if (at === undefined) return { message: `${name} is missing`, missing: name }
  return { message: `${name}: ${faultOf(issue)}, got ${describe(at)}`, missing: null }
}

function faultOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPE_NAMES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `expected one of ${issue.values.map((value) => describe(value)).join(', ')}`
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`
    default:
      return issue.message
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long'
  return origin === 'array' ? ' items long' : ''
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return at
}
