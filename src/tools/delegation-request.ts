import { z } from 'zod'
import { type Check, type DelegationRequest, LABEL, LABEL_FAULT } from '../domain/index.js'
import { resolveToolName } from './aliases.js'
import type { Delegator } from './delegation.js'
import { UNTOLD } from './schema.js'
import type { PlanResult, ToolContext } from './tool.js'

export type ProfileName = Delegator['profiles'][number]

const MAY_NOT_DELEGATE = 'this agent may not delegate'

/** Checked here and not in the JSON schema, where a pattern costs every request tokens and tells a model nothing. */
export const taskParameter = z.string().refine((task) => task.trim() !== '', 'must not be empty')

/** Words between commas; weak models give a list. */
export const wordsParameter = z.preprocess(
  (value) => (Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : value),
  z.string(),
)

/** A string alone is one item: commas are part of commands and of braces in globs. */
const listParameter = z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(z.string()))

/** The names there are, as an enum; an empty string is how weak models leave something out. */
export function profileParameter(profiles: readonly ProfileName[]) {
  const names = profiles.map(({ name }) => name)
  return optionalEnum(names.length > 0 ? z.enum(names) : z.string())
}

export function optionalEnum<S extends z.ZodType>(choice: S) {
  return z.preprocess((value) => (value === '' ? undefined : value), choice.optional()).optional()
}

/** What there is that could be forwarded to sub-agents. `labels`: whether there is more than one place to work in. */
export type Forwards = { skills: boolean; servers: boolean; labels: boolean }

/** An empty string is how weak models leave something out. */
const labelWord = z.string().refine((text) => text.trim() === '' || LABEL.test(text.trim()), LABEL_FAULT)

/** Said only where it can be met or waited for, and refused elsewhere. */
export function labelParameter({ labels }: Forwards) {
  const label = labelWord.optional()
  return { label: labels ? label.describe('of the worker it needs') : label.meta(UNTOLD) }
}

/** What every tool that makes one sub-agent can be asked for. */
export function commonParameters(forwards: Forwards) {
  return {
    owns: listParameter.optional().describe('globs it may write'),
    checks: listParameter.optional().describe('commands that must pass'),
    schema: z.looseObject({}).optional().describe('of its answer, in JSON'),
    model: z.string().optional(),
    cache: z.boolean().optional(),
    ...(forwards.skills ? { skills: wordsParameter.optional().describe('that it may load; comma-separated') } : {}),
    ...(forwards.servers ? { mcp_servers: wordsParameter.optional().describe('comma-separated') } : {}),
    ...labelParameter(forwards),
  }
}

/** The arguments as they were given: what a validator let pass as another shape is still in that shape here. */
export type Asked = {
  task: string
  profile?: unknown
  context?: string | undefined
  system_prompt?: string | undefined
  scope?: string | undefined
  tools?: unknown
  mode?: unknown
  max_tool_calls?: number | undefined
  owns?: unknown
  checks?: unknown
  schema?: Record<string, unknown> | undefined
  model?: string | undefined
  cache?: boolean | undefined
  label?: unknown
  skills?: unknown
  mcp_servers?: unknown
}

export function requestOf(asked: Asked): DelegationRequest {
  const request: DelegationRequest = { task: asked.task.trim() }
  for (const name of ['profile', 'context', 'system_prompt', 'scope', 'model', 'label'] as const) {
    const text = textOf(asked[name])
    if (text !== undefined) request[name] = text
  }
  const tools = toolsOf(asked.tools)
  if (tools) request.tools = tools
  if (asked.mode === 'plan' || asked.mode === 'auto') request.mode = asked.mode
  if (asked.max_tool_calls !== undefined) request.budget = { tool_calls: asked.max_tool_calls }
  const owns = listOf(asked.owns, /[,\n](?![^{]*\})/)
  if (owns) request.owns = owns
  const checks = checksOf(asked)
  if (checks.length > 0) request.checks = checks
  if (asked.cache !== undefined) request.cache = asked.cache
  for (const name of ['skills', 'mcp_servers'] as const) {
    const words = listOf(asked[name], /[,\n]/)
    if (words) request[name] = words
  }
  return request
}

/** A plan touches no path: what the sub-agent does is judged when it does it. */
export function delegationPlan(
  { delegation }: ToolContext,
  { profile, summary, detail }: { profile?: unknown; summary: string; detail?: string },
): PlanResult {
  if (!delegation) return { ok: false, message: MAY_NOT_DELEGATE }
  const name = textOf(profile)
  const names = delegation.profiles.map((known) => known.name)
  if (name !== undefined && !names.includes(name)) {
    const which = names.length > 0 ? `profiles: ${names.join(', ')}` : 'none is configured, leave it out'
    return { ok: false, message: `profile: there is no profile ${JSON.stringify(name)}; ${which}` }
  }
  return { ok: true, plan: { summary, paths: [], ...(detail === undefined ? {} : { detail }) } }
}

/** The calls of a tool are planned first, and without this there is no plan. */
export function delegatorOf({ delegation }: ToolContext): Delegator {
  if (!delegation) throw new Error(MAY_NOT_DELEGATE)
  return delegation
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** An empty text is nothing said, an empty list means none. */
function toolsOf(value: unknown): string[] | undefined {
  const names = listOf(value, /[,\n]/)
  return names?.map((name) => resolveToolName(name) ?? name)
}

function checksOf({ checks, schema }: Asked): Check[] {
  const commands = listOf(checks, /\n/) ?? []
  const gates = commands.map((command): Check => ({ kind: 'command', command }))
  if (!schema || Object.keys(schema).length === 0) return gates
  return [...gates, { kind: 'schema', schema: schema as Extract<Check, { kind: 'schema' }>['schema'] }]
}

function listOf(value: unknown, separator: RegExp): string[] | undefined {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(separator) : undefined
  const words = items?.map((item) => String(item).trim()).filter((item) => item !== '')
  return typeof value === 'string' && words?.length === 0 ? undefined : words
}
