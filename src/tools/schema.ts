import { z } from 'zod'
import { isObject, type ToolDefinition } from '../domain/index.js'

/** The part of JSON schema that mending and signatures look at. Everything else is left to the validator. */
export type JsonSchema = {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
  additionalProperties?: unknown
  untold?: boolean
}

/** Of an argument that models are not told of, and that is read all the same, so that it can be refused with a reason. */
export const UNTOLD = { untold: true }

/** The JSON schema of a tool's arguments as they are read. */
export function jsonSchemaOf(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', override: lean })
  return rest as JsonSchema
}

/** The same as a model is told. */
export function asTold(schema: JsonSchema): ToolDefinition['parameters'] {
  return told(schema) as ToolDefinition['parameters']
}

function told(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(told)
  if (!isObject(part)) return part
  const parts = Object.entries(part).filter(([, value]) => !isObject(value) || value.untold !== true)
  return Object.fromEntries(parts.map(([name, value]) => [name, told(value)]))
}

/** The bounds of safe integers and an object that may have anything tell a model nothing, and cost it tokens. */
function lean({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (isEmpty(jsonSchema.properties) && isEmpty(jsonSchema.additionalProperties)) {
    delete jsonSchema.properties
    delete jsonSchema.additionalProperties
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
