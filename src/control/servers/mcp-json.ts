import { join } from 'node:path'
import type { z } from 'zod'
import { isObject, serverNameFault } from '../../domain/index.js'
import type { NamedServer } from './server.js'

export type McpJson<S> = { servers: NamedServer<S>[]; problems: string[]; notes: string[] }

/** What others write into the file for the same thing. */
const KINDS: Readonly<Record<string, string>> = { stdio: 'stdio', http: 'http', 'streamable-http': 'http' }
const USED = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'disabled']

/**
 * Reads the `.mcp.json` of a project, which other programs share. So keys that are not used here are said and passed
 * over; a server that cannot be understood is a problem of its own and does not hide the others.
 */
export async function readMcpJson<S>(
  project_dir: string,
  read: (path: string) => Promise<string | null>,
  schema: z.ZodType<S>,
): Promise<McpJson<S>> {
  const file = join(project_dir, '.mcp.json')
  const problem = (message: string): McpJson<S> => ({ servers: [], problems: [`${file}: ${message}`], notes: [] })
  let text: string | null
  try {
    text = await read(file)
  } catch (error) {
    return problem(`cannot be read: ${(error as Error).message}`)
  }
  if (text === null) return { servers: [], problems: [], notes: [] }
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    return problem(`is not JSON: ${(error as Error).message}`)
  }
  const named = isObject(json) ? json.mcpServers : undefined
  if (!isObject(named)) return problem('mcpServers is missing: it must be an object from names to servers')
  const results = Object.entries(named).map(([name, value]) => readServer(file, name, value, schema))
  return {
    servers: results.flatMap(({ servers }) => servers),
    problems: results.flatMap(({ problems }) => problems),
    notes: results.flatMap(({ notes }) => notes),
  }
}

function readServer<S>(file: string, name: string, value: unknown, schema: z.ZodType<S>): McpJson<S> {
  const where = `${file}: mcpServers.${name}`
  const bad = (...problems: string[]): McpJson<S> => ({ servers: [], problems, notes: [] })
  const fault = serverNameFault(name)
  if (fault) return bad(`${where}: ${fault}`)
  if (!isObject(value)) return bad(`${where}: must be an object`)
  const kind = value.type === undefined ? undefined : KINDS[String(value.type)]
  if (value.type !== undefined && kind === undefined) {
    const advice = value.type === 'sse' ? 'servers that speak only the old SSE are not supported' : 'use stdio or http'
    return bad(`${where}.type: ${JSON.stringify(value.type)}: ${advice}`)
  }
  const used = Object.entries(value).filter(([key]) => USED.includes(key) && key !== 'disabled')
  const unused = Object.keys(value).filter((key) => !USED.includes(key))
  const parsed = schema.safeParse({
    ...Object.fromEntries(used),
    ...(kind === undefined ? {} : { type: kind }),
    ...(value.disabled === true ? { enabled: false } : {}),
  })
  if (!parsed.success) {
    return bad(...parsed.error.issues.map(({ path, message }) => `${[where, ...path].join('.')}: ${message}`))
  }
  return {
    servers: [{ name, settings: parsed.data, from: 'project', file }],
    problems: [],
    notes: unused.length === 0 ? [] : [`${where}: not used here: ${unused.join(', ')}`],
  }
}
