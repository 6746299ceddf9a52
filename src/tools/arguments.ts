import type { EventData } from '../domain/index.js'
import { resolveArgumentName } from './aliases.js'
import { mendObject, type Slips } from './mend.js'
import { describe, isObject, parseArguments, tryJson } from './parse.js'
import { type Problem, problemsOf } from './problems.js'
import { type JsonSchema, parametersOf } from './schema.js'
import { signatureOf } from './signature.js'
import { similarNames } from './similar.js'
import type { Tool } from './tool.js'

export type ToolArguments = EventData<'tool.called'>['args']

export type ArgumentsResult =
  /** mended: what had to be put right, in words, for the log. */
  { ok: true; args: ToolArguments; mended: string[] } | { ok: false; message: string }

/** What reading arguments has to know about a tool: its JSON schema, and a validator that may know more. */
type Reader = { name: string; schema: JsonSchema; validate: (value: unknown) => Problem[] }

/** Reads the text a model wrote as the arguments of a call. Never throws, whatever the text. */
export function readArguments(tool: Tool, raw: string): ArgumentsResult {
  const reader: Reader = {
    name: tool.name,
    schema: parametersOf(tool) as JsonSchema,
    validate: (value) => problemsOf(tool.parameters, value),
  }
  return asItIs(reader, raw) ?? mended(reader, raw)
}

/** The way of nearly all calls: nothing to mend. */
function asItIs({ schema, validate }: Reader, raw: string): ArgumentsResult | null {
  const parsed = tryJson(raw)
  if (!parsed.ok || !isObject(parsed.json)) return null
  const properties = schema.properties ?? {}
  const closed = schema.additionalProperties === false
  if (closed && !Object.keys(parsed.json).every((name) => Object.hasOwn(properties, name))) return null
  return validate(parsed.json).length === 0 ? valid(parsed.json, []) : null
}

function mended(reader: Reader, raw: string): ArgumentsResult {
  const { name, schema, validate } = reader
  const expected = `Expected: ${signatureOf(name, schema)}`
  const parsed = parseArguments(raw)
  if (!parsed.ok) return { ok: false, message: `${parsed.message}\n${expected}` }
  const slips: Slips = { mended: parsed.mended, dropped: [] }
  const args = mendObject(parsed.value, schema, slips, (given, known) => resolveArgumentName(name, given, known))
  const problems = validate(args)
  if (problems.length === 0) return valid(args, slips.mended)
  const lines = problems.map((problem) => `${problem.message}${meant(problem, slips.dropped)}`)
  return { ok: false, message: [...lines, expected].join('\n') }
}

/** Points at an unknown argument that must have been meant for a missing one. */
function meant(problem: Problem, dropped: string[]): string {
  if (problem.missing === null) return ''
  const [similar = dropped.length === 1 ? dropped[0] : undefined] = similarNames(problem.missing, dropped, 1)
  return similar === undefined ? '' : `: did you mean ${problem.missing} by ${describe(similar)}?`
}

/** The values as they were given, not the validator's copy: requests are compared by bytes, and it reorders keys. */
function valid(args: Record<string, unknown>, mended: string[]): ArgumentsResult {
  return { ok: true, args: args as ToolArguments, mended }
}
