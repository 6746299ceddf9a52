import type { z } from 'zod'
import { nearest } from '../../domain/index.js'
import { type Field, knownKeys } from './fields.js'
import type { Path } from './yaml-nodes.js'

/** What is wrong at a path of a value, in words for the person who wrote it. */
export type Fault = { path: Path; at: 'key' | 'value'; message: string; nearest: string | null }

export function explain(issues: readonly z.core.$ZodIssue[], value: unknown, fields: readonly Field[]): Fault[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => elsewhere(path, key, value) ?? unknownKey(path, key, fields))
    return [faultOf(issue, path, valueAt(value, path))]
  })
}

export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** What others write in a place where no key of ours is near. */
function elsewhere(parent: Path, key: string, value: unknown): Fault | null {
  if (parent.length > 0 || key !== 'tools' || valueAt(value, ['tools', 'spawn']) === undefined) return null
  const message = 'unknown key "tools": what tools.spawn has goes under delegation, and its profiles under profiles'
  return { path: [key], at: 'key', message, nearest: 'profiles' }
}

function unknownKey(parent: Path, key: string, fields: readonly Field[]): Fault {
  const known = knownKeys(fields, parent)
  const near = nearest(key, known)
  const where = parent.length === 0 ? '' : ` in ${pathText(parent)}`
  const hint = near === null ? `known keys: ${known.join(', ')}` : `did you mean "${near}"?`
  return { path: [...parent, key], at: 'key', message: `unknown key "${key}"${where}: ${hint}`, nearest: near }
}

function faultOf(issue: z.core.$ZodIssue, path: Path, value: unknown): Fault {
  const name = pathText(path)
  const fault = (message: string, near: string | null = null): Fault => ({ path, at: 'value', message, nearest: near })
  // A key with nothing after it could mean "none" or "the default"; for a boundary, guessing is not good enough.
  if (value === null && path.length > 0) return fault(`${name} has no value: give it one or remove it`)
  if (value === undefined && issue.code !== 'custom') return fault(`${name} is missing`)
  switch (issue.code) {
    case 'custom': {
      const near: unknown = issue.params?.nearest
      return fault(issue.message, typeof near === 'string' ? near : null)
    }
    case 'invalid_type':
      return fault(
        `${name || 'the file'} must be ${KINDS[issue.expected] ?? issue.expected}, not ${shown(value, path)}`,
      )
    case 'invalid_value':
      return oneOf(issue.values.map(String))
    case 'too_small':
      return fault(`${name} must be at least ${issue.minimum}`)
    case 'too_big':
      return fault(`${name} must be at most ${issue.maximum}`)
    case 'invalid_key':
      return { ...fault(`${name}: ${issue.issues[0]?.message ?? issue.message}`), at: 'key' }
    case 'invalid_format':
      if (/^must /.test(issue.message)) return fault(`${name} ${issue.message}`)
      // What a pattern stands for is said beside it.
      return fault(issue.format === 'regex' ? `${name}: ${issue.message}` : `${name} must be a ${issue.format}`)
    case 'invalid_union':
      // A union told apart by a key says which values the key can have.
      return 'options' in issue && Array.isArray(issue.options)
        ? oneOf(issue.options.map(String))
        : fault(`${name} has none of the forms it can have`)
    default:
      return fault(`${name}: ${issue.message}`)
  }

  function oneOf(values: string[]): Fault {
    const near = typeof value === 'string' ? nearest(value, values) : null
    const hint = near === null ? '' : `: did you mean "${near}"?`
    return fault(`${name} must be one of ${values.join(', ')}, not ${shown(value, path)}${hint}`, near)
  }
}

const KINDS: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** Where a text may be a key that somebody put where the name of its variable belongs. */
const UNSHOWN = ['providers', 'mcp_servers', 'secrets', 'web']

/** A value in a message, unless it may be a secret. */
function shown(value: unknown, path: Path): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (UNSHOWN.includes(String(path[0])) && path.at(-1) !== 'type') return KINDS[typeof value] ?? typeof value
  return typeof value === 'string' ? JSON.stringify(cut(value)) : String(value)
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    return (at as Record<string | number, unknown>)[step]
  }, value)
}
