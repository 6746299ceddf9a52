import { type Check, checkSchema, globFault, quoted } from '../domain/index.js'
import { type FaultAt, Fields, isMapping, type Path } from './plan-fields.js'

/** What each kind of check has. A check that does not name its kind is told by them. */
const KINDS = {
  command: ['command'],
  schema: ['schema'],
  paths: ['exist', 'unchanged', 'unmarked'],
} as const satisfies Record<Check['kind'], readonly string[]>

const FORMS = 'write a command, or one of command:, schema:, exist: and unchanged:'

/** A check as it is written: a command alone, or a mapping. null: it has faults. */
export function readCheck(value: unknown, path: Path, faults: FaultAt[]): Check | null {
  const no = (message: string) => {
    faults.push({ path, message })
    return null
  }
  if (typeof value === 'string') return value.trim() === '' ? no(EMPTY) : { kind: 'command', command: value }
  if (!isMapping(value)) return no(`must be a check, not ${quoted(value)}: ${FORMS}`)
  const kinds = Object.keys(KINDS) as Check['kind'][]
  const told = kinds.filter((kind) => KINDS[kind].some((key) => Object.hasOwn(value, key)))
  const [kind = null, other] = value.kind === undefined ? told : kinds.filter((one) => one === value.kind)
  if (value.kind !== undefined && kind === null) {
    new Fields(value, path, faults, Object.keys(value)).oneOf('kind', kinds)
    return null
  }
  if (kind === null) return no(`checks nothing: ${FORMS}`)
  if (other !== undefined) return no(`is two checks in one: write ${kind} and ${other} as items of their own`)
  const found = faults.length
  const fields = new Fields(value, path, faults, ['kind', ...KINDS[kind]])
  const check = kind === 'command' ? commandOf(fields) : kind === 'schema' ? schemaOf(fields) : pathsOf(fields, faults)
  return faults.length > found ? null : check
}

const EMPTY = 'is empty: say which command is to be run, or remove it'

function commandOf(fields: Fields): Check | null {
  const command = fields.get('command')
  if (typeof command === 'string' && command.trim() !== '') return { kind: 'command', command }
  if (typeof command === 'string' || !fields.has('command')) fields.no('command', EMPTY)
  else if (command !== undefined) fields.no('command', `must be text, not ${quoted(command)}`)
  return null
}

function schemaOf(fields: Fields): Check | null {
  const schema = fields.get('schema')
  const check = checkSchema.safeParse({ kind: 'schema', schema })
  if (check.success) return check.data
  if (!fields.has('schema')) fields.no('schema', 'is missing: give the JSON schema that the answer must fit')
  else if (isMapping(schema)) fields.no('schema', 'has something in it that is no JSON: take it out')
  else if (schema !== undefined) fields.no('schema', `must be a JSON schema, not ${quoted(schema)}`)
  return null
}

function pathsOf(fields: Fields, faults: FaultAt[]): Check {
  const found = faults.length
  const check: Extract<Check, { kind: 'paths' }> = { kind: 'paths' }
  for (const name of KINDS.paths) {
    // What is unmarked are names of files, in which nothing is special.
    const texts = name === 'unmarked' ? fields.texts(name) : fields.texts(name, (glob) => globFault(glob, name))
    if (texts !== undefined) check[name] = texts
  }
  const isEmpty = KINDS.paths.every((name) => (check[name] ?? []).length === 0)
  if (isEmpty && faults.length === found) fields.no(null, 'names no path: say what must exist or be unchanged')
  return check
}
