import { isObject } from '../domain/index.js'
import { resolveArgumentName } from './aliases.js'
import { mendObject, type Slips } from './mend.js'
import { describe, parseArguments, tryJson } from './parse.js'
import type { Problem } from './problems.js'
import { signatureOf } from './signature.js'
import { similarNames } from './similar.js'
import type { ArgumentsReader, Tool, ToolArguments } from './tool.js'

export type ArgumentsResult =
  /** mended: what had to be put right, in words, for the log. */
  { ok: true; args: ToolArguments; mended: string[] } | { ok: false; message: string }

/** Reads the text a model wrote as the arguments of a call. Never throws, whatever the text. */
export function readArguments(tool: Tool, raw: string): ArgumentsResult {
  const reader = tool.reader()
  return asItIs(reader, raw) ?? mended(tool.name, reader, raw)
}

/** The way of nearly all calls: nothing to mend. */
function asItIs({ schema, problemsOf }: ArgumentsReader, raw: string): ArgumentsResult | null {
  const parsed = tryJson(raw)
  if (!parsed.ok || !isObject(parsed.json)) return null
  const properties = schema.properties ?? {}
  const closed = schema.additionalProperties === false
  if (closed && !Object.keys(parsed.json).every((name) => Object.hasOwn(properties, name))) return null
  return problemsOf(parsed.json).length === 0 ? valid(parsed.json, []) : null
}

function mended(name: string, { schema, problemsOf }: ArgumentsReader, raw: string): ArgumentsResult {
  const expected = `Expected: ${signatureOf(name, schema)}`
  const parsed = parseArguments(raw)
  if (!parsed.ok) return { ok: false, message: `${parsed.message}\n${expected}` }
  const slips: Slips = { mended: parsed.mended, dropped: [] }
  const args = mendObject(parsed.value, schema, slips, (given, known) => resolveArgumentName(name, given, known))
  const problems = problemsOf(args)
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
