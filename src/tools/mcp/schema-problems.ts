import type { ErrorObject } from 'ajv'
import { describe } from '../parse.js'
import type { Problem } from '../problems.js'

/** What a JSON schema found wrong, in the words that are used for arguments of our own tools. */
export function schemaProblems(errors: readonly ErrorObject[], value: unknown): Problem[] {
  const problems = errors.map((error) => problemOf(error, value))
  return problems.filter(({ message }, i) => problems.findIndex((other) => other.message === message) === i)
}

const TYPE_NAMES: Readonly<Record<string, string>> = { array: 'list' }

function problemOf(error: ErrorObject, value: unknown): Problem {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') {
    const name = nameOf([...path, String(error.params.missingProperty)], value)
    return { message: `${name} is missing`, missing: name }
  }
  return {
    message: `${nameOf(path, value) || 'arguments'}: ${faultOf(error)}, got ${describe(valueAt(value, path))}`,
    missing: null,
  }
}

function faultOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `expected ${[params.type]
        .flat()
        .map((type: string) => TYPE_NAMES[type] ?? type)
        .join(' or ')}`
    case 'enum':
      return `expected one of ${params.allowedValues.map((allowed: unknown) => describe(allowed)).join(', ')}`
    case 'const':
      return `expected ${describe(params.allowedValue)}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must be at least ${params.limit} characters long`
    case 'maxLength':
      return `must be at most ${params.limit} characters long`
    case 'minItems':
      return `must be at least ${params.limit} items long`
    case 'maxItems':
      return `must be at most ${params.limit} items long`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'additionalProperties':
      return `${describe(params.additionalProperty)} is no argument`
    default:
      return message ?? keyword
  }
}

function nameOf(path: readonly string[], value: unknown): string {
  return path
    .map((key, i) => {
      const isIndex = Array.isArray(valueAt(value, path.slice(0, i)))
      return isIndex ? `[${key}]` : `${i > 0 ? '.' : ''}${key}`
    })
    .join('')
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}
