import { isObject } from '../domain/index.js'
import { describe, tryJson } from './parse.js'
import type { JsonSchema } from './schema.js'

/** What mending found out besides the mended value. */
export type Slips = { mended: string[]; dropped: string[] }

type Rename = (name: string, known: readonly string[]) => string | null

/** Mends the slips of weak models as far as the schema says what must have been meant. The validator decides. */
export function mendObject(
  value: Record<string, unknown>,
  schema: JsonSchema,
  slips: Slips,
  rename: Rename = () => null,
  where = '',
): Record<string, unknown> {
  const properties = schema.properties ?? {}
  const known = Object.keys(properties)
  const mended = new Map<string, unknown>()
  for (const [given, part] of Object.entries(value)) {
    const name = Object.hasOwn(properties, given) ? given : rename(given, known)
    if (name === null && schema.additionalProperties !== false) mended.set(given, part)
    else if (name === null || (name !== given && (Object.hasOwn(value, name) || mended.has(name)))) {
      slips.dropped.push(given)
      slips.mended.push(`${where}${describe(given)} is no argument: dropped`)
    } else {
      if (name !== given) slips.mended.push(`${where}${given} taken as ${name}`)
      mended.set(name, part)
    }
  }
  for (const [name, part] of mended) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!property) continue
    const { type, nullable } = kindOf(property)
    const optional = !schema.required?.includes(name)
    if (optional && ((part === null && !nullable) || (part === '' && type !== 'string' && type !== null))) {
      slips.mended.push(`${where}${name}: ${describe(part)} dropped`)
      mended.delete(name)
    } else mended.set(name, mendValue(part, property, slips, where + name))
  }
  return Object.fromEntries(mended)
}

function mendValue(value: unknown, schema: JsonSchema, slips: Slips, where: string): unknown {
  const { type, schema: kind } = kindOf(schema)
  const read = (as: unknown) => {
    slips.mended.push(`${where}: ${describe(value)} read as ${describe(as)}`)
    return as
  }
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? read(Number(value)) : value
    case 'boolean':
      return typeof value === 'string' && /^\s*(true|false)\s*$/i.test(value)
        ? read(value.trim().toLowerCase() === 'true')
        : value
    case 'string':
      return Number.isSafeInteger(value) ? read(String(value)) : value
    case 'array': {
      const list = Array.isArray(value) ? value : listOf(value, kind.items ?? {})
      if (!Array.isArray(list)) return value
      if (list !== value) read(list)
      return list.map((item, i) => mendValue(item, kind.items ?? {}, slips, `${where}[${i}]`))
    }
    case 'object': {
      const json = typeof value === 'string' ? tryJson(value) : null
      const object = json?.ok && isObject(json.json) ? read(json.json) : value
      return isObject(object) ? mendObject(object, kind, slips, undefined, `${where}.`) : value
    }
    default:
      return value
  }
}

/** A list that was given as one value: JSON text, lines, words between commas, or its only item. */
function listOf(value: unknown, items: JsonSchema): unknown {
  if (typeof value !== 'string') return value === null ? value : [value]
  const json = tryJson(value)
  if (json.ok && Array.isArray(json.json)) return json.json
  if (kindOf(items).type === 'object') return json.ok && isObject(json.json) ? [json.json] : value
  // ['a', 'b'], as in Python. Brackets without quotes stay: [id].ts is a file name.
  const python = /^\s*\[\s*(['"][\s\S]*['"])\s*\]\s*$/.exec(value)?.[1]
  const separator = value.includes('\n') ? '\n' : ','
  return (python ?? value)
    .split(separator)
    .map((item) => (python === undefined ? item.trim() : item.trim().replace(/^(['"])(.*)\1$/, '$2')))
    .filter((item) => item !== '')
}

/** The one type that a schema asks for, null being no type of its own; null where it allows several. */
function kindOf(schema: JsonSchema): { type: string | null; nullable: boolean; schema: JsonSchema } {
  const choices = schema.anyOf ?? [schema]
  const others = choices.filter((choice) => choice.type !== 'null')
  const [only] = others
  if (!only || others.length > 1) return { type: null, nullable: others.length < choices.length, schema }
  const types = [only.type ?? []].flat()
  const [type, ...more] = types.filter((name) => name !== 'null')
  const nullable = others.length < choices.length || types.includes('null')
  return { type: more.length === 0 ? (type ?? null) : null, nullable, schema: only }
}
