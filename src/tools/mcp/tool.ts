import { isObject, type ToolDefinition } from '../../domain/index.js'
import type { JsonSchema } from '../schema.js'
import { head, oneLine } from '../text.js'
import type { ArgumentsReader, Tool } from '../tool.js'
import { readAnswer } from './answer.js'
import type { Connection } from './connection.js'
import type { Check, SchemaCompiler } from './outside-schema.js'
import { printable } from './printable.js'
import { schemaProblems } from './schema-problems.js'
import type { ListedTool } from './session.js'

const DESCRIPTION_CHARS = 2000

export type ToolOrigin = {
  server: string
  connection: Pick<Connection, 'call' | 'current'>
  /** Host and path of a server that is reached over the network; null for a process. */
  address: string | null
  timeout_ms: number
  compile: SchemaCompiler
}

/** A server's tool as one of ours: same pipeline, same authority. A tool that cannot be checked is not offered. */
export function toolFrom(
  listed: ListedTool,
  name: string,
  { server, connection, address, timeout_ms, compile }: ToolOrigin,
): { ok: true; tool: Tool } | { ok: false; message: string } {
  const offered = inputOf(listed, compile)
  if (!offered.ok) return offered
  let read = { definition: listed, reader: offered.reader }
  let output: { definition: ListedTool; check: Check | null } | null = null
  const hints = isObject(listed.annotations) ? listed.annotations : {}
  const isReading = hints.readOnlyHint === true
  const description = descriptionOf(listed) || `The tool ${printable(listed.name)} of ${server}.`

  const reader = (): ArgumentsReader => {
    const definition = connection.current(listed.name) ?? listed
    if (definition !== read.definition) {
      const input = inputOf(definition, compile)
      // With a new schema that cannot be used, the server is the only one left who can judge.
      read = { definition, reader: input.ok ? input.reader : { schema: {}, problemsOf: () => [] } }
    }
    return read.reader
  }
  const outputCheck = (): Check | null => {
    const definition = connection.current(listed.name) ?? listed
    if (output?.definition !== definition) {
      const compiled = definition.outputSchema === undefined ? null : compile(definition.outputSchema)
      output = { definition, check: compiled?.ok ? compiled.check : null }
    }
    return output.check
  }

  const tool: Tool = {
    name,
    server,
    effect: isReading ? 'fetch' : 'external',
    repeatable: isReading || hints.idempotentHint === true,
    description: () => description,
    parameters: () => offered.parameters,
    reader,
    plan: async (args) => ({
      ok: true,
      plan: {
        summary: `${server}: ${oneLine(printable(listed.name), 80)} ${oneLine(printable(JSON.stringify(args)), 300)}`,
        detail: `${listed.name} of the MCP server ${server}, with ${JSON.stringify(args, null, 2)}`,
        paths: [],
        ...(address === null ? {} : { address }),
      },
    }),
    execute: async (args, { signal, onProgress, limits }) => {
      const result = await connection.call(listed.name, args, { signal, timeout_ms, onProgress })
      if (!result.ok) return { ok: false, content: result.message }
      return readAnswer(result.answer, limits.command_output_bytes, outputCheck())
    },
  }
  return { ok: true, tool }
}

export function descriptionOf({ description, title, annotations }: ListedTool): string {
  const given = [description, title, isObject(annotations) ? annotations.title : null]
  const text = given.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '')
  const whole = printable(String(text ?? '')).trim()
  return whole.length > DESCRIPTION_CHARS ? `${head(whole, DESCRIPTION_CHARS - 1)}…` : whole
}

type Input =
  | { ok: true; parameters: ToolDefinition['parameters']; reader: ArgumentsReader }
  | { ok: false; message: string }

function inputOf({ inputSchema }: ListedTool, compile: SchemaCompiler): Input {
  if (!isObject(inputSchema)) return { ok: false, message: 'it has no schema for its arguments' }
  const types = [inputSchema.type ?? 'object'].flat()
  if (!types.includes('object')) return { ok: false, message: 'its schema is not about an object' }
  const compiled = compile(inputSchema)
  if (!compiled.ok) return compiled
  const problemsOf = (value: unknown) => schemaProblems(compiled.check(value) ?? [], value)
  // What models take without exception: an object at the top that names its properties.
  const { $schema: _dialect, type: _type, ...rest } = inputSchema
  const parameters = { type: 'object', properties: {}, ...rest } as ToolDefinition['parameters']
  return { ok: true, parameters, reader: { schema: parameters as JsonSchema, problemsOf } }
}
