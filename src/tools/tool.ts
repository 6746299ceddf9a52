import type { z } from 'zod'
import type { Access, Effect, EventData, Redactor, ToolDefinition, ToolLimits, Witness } from '../domain/index.js'
import type { Fence, Http, Processes, Repository, Workspace } from '../host/index.js'
import type { Delegator } from './delegation.js'
import { type Problem, zodProblems } from './problems.js'
import { asTold, type JsonSchema, jsonSchemaOf } from './schema.js'

export type { ToolLimits }

export type ToolArguments = EventData<'tool.called'>['args']

export const DEFAULT_LIMITS: ToolLimits = {
  output_chars: 30_000,
  read_bytes: 10 * 1024 * 1024,
  read_lines: 2000,
  find_results: 200,
  search_results: 200,
  command_timeout_ms: 120_000,
  command_max_timeout_ms: 600_000,
  command_output_bytes: 8 * 1024 * 1024,
}

/** What a tool works with. Effects go through the host; nothing here is global. */
export type ToolContext = {
  workspace: Workspace
  processes: Processes
  /** What stands around commands; null where there is no sandbox. The pipeline has then asked for exactly that. */
  fence: Fence | null
  http: Http
  /** Takes secrets out of what a tool says before it goes anywhere. */
  redactor: Redactor
  /** null where the workspace is in no git repository. */
  repository: () => Promise<Repository | null>
  limits: ToolLimits
  /** Aborts at the deadline and when the run is cancelled. */
  signal: AbortSignal
  /** Time left to this call. */
  time_left_ms: () => number
  /** Whether the contract lets this file be read. For tools that find files by themselves. */
  mayRead: (path: string) => boolean
  /** The whole output of an earlier call of this agent, where it was cut or masked. */
  readOutput: (call_id: string) => Promise<string | null>
  /** The call that is being made. */
  call_id: string
  /** Sub-agents of this agent; null where it may have none. */
  delegation: Delegator | null
  askPerson: (question: { call_id: string; text: string; options: string[] }) => Promise<string | null>
  /** Says what is going on in a long call. */
  onProgress: (text: string) => void
}

/** What a call is going to touch, known before anything happens. */
export type Plan = {
  /** One line: what is done to what. Shown to the person who is asked. */
  summary: string
  /** All of what is going to happen, where one line cannot say it: the command, the change. Shown to the person too. */
  detail?: string
  paths: { path: string; access: Access }[]
  /** A shell command line that will be run. */
  command?: string
  /** Address without scheme (`example.org/docs/a`) of what is reached outside. */
  address?: string
  /** The skill that is loaded. */
  skill?: string
  witness?: Witness
}

/**
 * `reveals`: the message tells something about what is at these paths. Where reading one of them is denied, the denial
 * is the answer, not the message.
 */
export type PlanResult = { ok: true; plan: Plan } | { ok: false; message: string; reveals?: Plan['paths'] }

export type ToolOutput = {
  ok: boolean
  content: string
  files_read?: string[]
  files_changed?: string[]
  /** The sub-agents whose results are in the content. */
  delivers?: string[]
}

/** What the arguments of a call are read by: the JSON schema that mending goes by, and a validator that may know more. */
export type ArgumentsReader = { schema: JsonSchema; problemsOf: (value: unknown) => Problem[] }

/** One tool. Validating, authorizing, recording, deadlines and bounds are the pipeline's, never a tool's own. */
export type Tool = {
  name: string
  effect: Effect
  /** The MCP server it belongs to. */
  server?: string
  description: (limits: ToolLimits) => string
  /** JSON schema of the arguments, as models are told: always the same, since it is part of a prompt that is stored. */
  parameters: () => ToolDefinition['parameters']
  /** What the next call is read by. A server may want other arguments by now than it did when the tool was offered. */
  reader: () => ArgumentsReader
  /** Running it twice is the same as running it once, whatever happened in between. */
  repeatable: boolean
  /** It is about what the calls given together with it do, so it begins when they have ended. */
  joins?: boolean
  plan: (args: ToolArguments, context: ToolContext) => Promise<PlanResult>
  execute: (args: ToolArguments, context: ToolContext, plan: Plan) => Promise<ToolOutput>
  /** After a restart: did the call take effect? Absent: nobody can tell. */
  recover?: (args: ToolArguments, witness: Witness, context: ToolContext) => Promise<'done' | 'not_done' | 'unknown'>
}

/** A tool of our own: its arguments are declared once, as a zod schema. */
export type ToolSpec<S extends z.ZodObject> = Omit<Tool, 'parameters' | 'reader' | 'plan' | 'execute' | 'recover'> & {
  parameters: S
  plan: (args: z.infer<S>, context: ToolContext) => Promise<PlanResult>
  execute: (args: z.infer<S>, context: ToolContext, plan: Plan) => Promise<ToolOutput>
  recover?: (args: z.infer<S>, witness: Witness, context: ToolContext) => Promise<'done' | 'not_done' | 'unknown'>
}

export function defineTool<S extends z.ZodObject>(spec: ToolSpec<S>): Tool {
  // Made when it is first asked for: a start that shows no tools need not pay for it.
  let made: { read: JsonSchema; told: ToolDefinition['parameters'] } | undefined
  const schemas = () => {
    if (made) return made
    const read = jsonSchemaOf(spec.parameters)
    made = { read, told: asTold(read) }
    return made
  }
  const problemsOf = (value: unknown) => zodProblems(spec.parameters, value)
  const reader = () => ({ schema: schemas().read, problemsOf })
  const tool = { ...spec, parameters: () => schemas().told, reader }
  return tool as unknown as Tool
}
