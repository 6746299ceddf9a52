import { describe } from './parse.js'
import type { JsonSchema } from './schema.js'

/** A tool's arguments on one line: `read_file(path: string, offset?: integer, limit?: integer)`. */
export function signatureOf(name: string, schema: JsonSchema): string {
  return `${name}(${fieldsOf(schema)})`
}

function fieldsOf(schema: JsonSchema): string {
  return Object.entries(schema.properties ?? {})
    .filter(([, field]) => !field.untold)
    .map(([name, field]) => `${name}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(field)}`)
    .join(', ')
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map(describe).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  if (schema.type === 'object' && schema.properties) return `{${fieldsOf(schema)}}`
  return schema.type ?? 'any'
}
