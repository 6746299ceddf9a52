import { z } from 'zod'
import { serverNameFault } from '../../domain/index.js'

/** How a server is started (`command`) or reached (`url`). Values may hold `${VAR}` and `${VAR:-default}`. */
export const mcpServerSettingsSchema = z
  .strictObject({
    type: z.enum(['stdio', 'http']).optional().describe('`stdio` with a command, `http` with a url'),
    command: z.string().min(1).optional().describe('the program to start; no shell sees it'),
    args: z.array(z.string()).optional().describe('its arguments'),
    env: z.record(z.string(), z.string()).optional().describe('added to the environment, which has no keys in it'),
    cwd: z.string().min(1).optional().describe('where it runs, relative to the project folder'),
    url: z.string().min(1).optional().describe('the address of a server that speaks streamable HTTP'),
    headers: z.record(z.string(), z.string()).optional().describe('sent with every request to the url'),
    timeout_ms: z.int().min(100).max(3_600_000).optional().describe('how long one call may take'),
    enabled: z.boolean().optional().describe('`false` leaves it out'),
  })
  .superRefine((settings, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const { type, command, url } = settings
    if (command === undefined && url === undefined) wrong('command', 'a server needs a command or a url')
    else if (command !== undefined && url !== undefined) wrong('url', 'a server has a command or a url, not both')
    else if (type === 'stdio' && command === undefined) wrong('type', 'stdio needs a command')
    else if (type === 'http' && url === undefined) wrong('type', 'http needs a url')
    const foreign = url === undefined ? (['headers'] as const) : (['args', 'env', 'cwd'] as const)
    for (const key of foreign) {
      if (settings[key] === undefined) continue
      wrong(key, url === undefined ? `${key} is for servers with a url` : `${key} is for servers with a command`)
    }
  })
export type McpServerSettings = z.infer<typeof mcpServerSettingsSchema>

export const mcpServersSettingsSchema = z.record(
  z.string().superRefine((name, context) => {
    const message = serverNameFault(name)
    if (message) context.addIssue({ code: 'custom', message })
  }),
  mcpServerSettingsSchema,
)

/** What to start or to reach, with every variable replaced. */
export type McpTarget =
  | { kind: 'stdio'; command: string[]; env: Record<string, string>; cwd: string | null }
  | { kind: 'http'; url: URL; headers: Record<string, string> }

type Environment = Readonly<Record<string, string | undefined>>

/** A variable that is not there is an error: a server with half an address or an empty key fails in stranger ways. */
export function targetOf(
  settings: McpServerSettings,
  env: Environment,
): { ok: true; target: McpTarget } | { ok: false; message: string } {
  const missing = new Set<string>()
  const full = (text: string) => replaceVariables(text, env, missing)
  const all = (values: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, full(value)]))
  const url = settings.url === undefined ? null : full(settings.url)
  const command = [settings.command ?? '', ...(settings.args ?? [])].map(full)
  const [values, headers] = [all(settings.env), all(settings.headers)]
  if (missing.size > 0) {
    return { ok: false, message: `its settings need what the environment does not have: ${[...missing].join(', ')}` }
  }
  if (url === null) return { ok: true, target: { kind: 'stdio', command, env: values, cwd: settings.cwd ?? null } }
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    return { ok: false, message: 'its url is not an http or https address' }
  }
  return { ok: true, target: { kind: 'http', url: parsed, headers } }
}

function replaceVariables(text: string, env: Environment, missing: Set<string>): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = env[name]
    // As in a shell: with a default, an empty variable counts as one that is not there.
    if (otherwise !== undefined) return value === undefined || value === '' ? otherwise : value
    if (value === undefined) missing.add(name)
    return value ?? ''
  })
}
