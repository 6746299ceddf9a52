import type { Ajv, AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv'
import { isObject } from '../../domain/index.js'
import { isDeeper } from '../parse.js'
import { size } from '../text.js'
import { createWithinTime } from './within-time.js'

/** What a schema finds wrong with a value, at most so many things; null when it could not say so in time. */
export type Check = (value: unknown) => ErrorObject[] | null
export type Compiled = { ok: true; check: Check } | { ok: false; message: string }
export type SchemaCompiler = (schema: unknown) => Compiled

/** It goes to the model with every request: what is larger than this nobody wants to pay for. */
const MAX_SCHEMA_CHARS = 100_000
const MAX_DEPTH = 60
const COMPILE_MS = 2000
/** Honest schemas take less than a millisecond. Nothing else happens in this process meanwhile. */
const CHECK_MS = 250
const MAX_ERRORS = 10

/**
 * Validators for JSON schemas that a server sent. Nothing in such a schema is trusted: not its size, not its depth, not
 * its regular expressions, and it is never fetched from elsewhere. Loaded only where there are servers.
 */
export async function createSchemaCompiler(): Promise<SchemaCompiler> {
  const { Ajv, Ajv2020, formats } = await import('./ajv.js')
  const withinTime = createWithinTime()
  const options = {
    strict: false,
    allErrors: true,
    // Otherwise every object would have an argument named `constructor`.
    ownProperties: true,
    // Two servers may give the same $id to different schemas.
    addUsedSchema: false,
    logger: false,
    validateFormats: true,
    code: { regExp },
  } as const
  const make = (create: () => Ajv) => {
    let made: Ajv | undefined
    return () => {
      if (!made) {
        made = create()
        formats.default(made, { mode: 'fast' })
      }
      return made
    }
  }
  const draft7 = make(() => new Ajv(options))
  const draft2020 = make(() => new Ajv2020(options))

  return (schema) => {
    const fault = faultOf(schema)
    if (fault !== null) return { ok: false, message: fault }
    const { $schema, ...rest } = schema as AnySchemaObject
    const ajv = /draft-0?[4-7]/.test(String($schema)) ? draft7() : draft2020()
    let validate: ValidateFunction
    try {
      const compiled = withinTime(COMPILE_MS, () => ajv.compile(rest))
      if (!compiled.ok) return { ok: false, message: 'its schema takes too long to read' }
      validate = compiled.value
    } catch (error) {
      return { ok: false, message: `its schema is not valid: ${shortReason(error)}` }
    }
    let isTooSlow = false
    const check: Check = (value) => {
      if (isTooSlow) return null
      try {
        const done = withinTime(CHECK_MS, () => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_ERRORS)))
        // Once is enough: a schema that can hold everything up for so long would do it with every call.
        if (!done.ok) isTooSlow = true
        return done.ok ? done.value : null
      } catch {
        // A value deeper than the stack.
        return null
      }
    }
    return { ok: true, check }
  }
}

function faultOf(schema: unknown): string | null {
  if (!isObject(schema)) return 'its schema is not an object'
  if (isDeeper(schema, MAX_DEPTH)) return `its schema is nested deeper than ${MAX_DEPTH} levels`
  const { length } = JSON.stringify(schema)
  return length > MAX_SCHEMA_CHARS ? `its schema is larger than ${size(MAX_SCHEMA_CHARS)}` : null
}

/** Patterns are written for many languages; some that Unicode mode refuses are fine without it. */
function tolerantRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return new RegExp(pattern, flags.replace('u', ''))
  }
}
const regExp = Object.assign(tolerantRegExp, { code: 'tolerantRegExp' })

function shortReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
