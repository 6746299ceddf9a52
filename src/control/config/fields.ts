import { z } from 'zod'
import type { Path } from './yaml-nodes.js'

/** One setting as documentation and messages see it, read from the schema itself. */
export type Field = {
  key: string
  type: string
  description: string
  /** `null`: the default is no plain value, default_text says it. */
  default: unknown
  default_text: string | null
  example: unknown
  user_only: boolean
  /** Of a mapping with fixed keys, or of each entry of a mapping from names. */
  fields: Field[]
  /** A mapping whose keys the person chooses. */
  by_name: boolean
}

export function fieldsOf(schema: z.ZodType): Field[] {
  return children(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }))
}

/** The keys that a mapping at a path may have. */
export function knownKeys(fields: readonly Field[], path: Path): string[] {
  const [step, ...rest] = path
  if (step === undefined) return fields.map((field) => field.key)
  const field = fields.find((f) => f.key === step)
  if (!field) return []
  return knownKeys(field.fields, field.by_name ? rest.slice(1) : rest)
}

type Json = z.core.JSONSchema.BaseSchema

function children(json: Json): Field[] {
  const fields = new Map<string, Field>()
  for (const shape of [json, ...(json.anyOf ?? []), ...(json.oneOf ?? [])]) {
    for (const [key, child] of Object.entries(shape.properties ?? {})) {
      if (typeof child === 'object' && !fields.has(key)) fields.set(key, fieldOf(key, child))
    }
  }
  return [...fields.values()]
}

function fieldOf(key: string, json: Json): Field {
  const entry = typeof json.additionalProperties === 'object' ? json.additionalProperties : null
  return {
    key,
    type: entry
      ? `mapping from names to ${entry.type === undefined || entry.type === 'object' ? 'settings' : typeOf(entry)}`
      : typeOf(json),
    description: json.description ?? '',
    default: json.default ?? null,
    default_text: typeof json.default_text === 'string' ? json.default_text : null,
    example: json.examples?.[0],
    user_only: json.user_only === true,
    fields: children(entry ?? json),
    by_name: entry !== null,
  }
}

function typeOf(json: Json): string {
  if (json.const !== undefined) return `\`${json.const}\``
  if (json.enum) return json.enum.map((value) => `\`${value}\``).join(', ')
  switch (json.type) {
    case 'string':
      return 'text'
    case 'boolean':
      return '`true`, `false`'
    case 'integer':
      return `whole number${range(json)}`
    case 'number':
      return `number${range(json)}`
    case 'array':
      return `list of ${typeof json.items === 'object' && !Array.isArray(json.items) ? typeOf(json.items) : 'anything'}`
    case 'object':
      return 'mapping'
    default: {
      const choices = json.anyOf ?? json.oneOf ?? []
      return [...new Set(choices.map(typeOf))].join(', ') || 'text'
    }
  }
}

function range({ minimum, maximum }: Json): string {
  const bounded = minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  return bounded ? `, ${minimum} to ${maximum}` : ''
}
