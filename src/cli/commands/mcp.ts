import { openServers, type ProjectServers } from '../../index.js'
import { absolute } from '../open.js'
import { line, paintFor, plural } from '../style.js'

type Options = { cwd?: string; json?: boolean }
type Server = ProjectServers['servers'][number]

const open = ({ cwd }: Options) => openServers({ cwd: absolute(cwd ?? '.'), env: process.env })
const say = (text: string) => process.stdout.write(`${text}\n`)

/** Which servers there are, where they come from and whether they may start. */
export async function mcpList(options: Options): Promise<number> {
  const project = await open(options)
  const { problems, notes } = project
  const servers = project.servers.map(project.shown)
  if (options.json) {
    say(JSON.stringify({ servers: servers.map(describeServer), problems, notes }))
    return problems.length === 0 ? 0 : 1
  }
  const { green, yellow, dim } = paintFor(process.stdout, process.env)
  for (const server of servers) {
    const { name, state, from, does } = describeServer(server)
    const colour = state === 'trusted' ? green : yellow
    say(`${name.padEnd(20)} ${colour(state.padEnd(9))} ${from.padEnd(7)} ${line(does)}`)
  }
  if (servers.length === 0) say('No MCP servers here. Name some under mcp_servers in retinue.yaml, or in .mcp.json.')
  if (servers.some((server) => describeServer(server).state === 'untrusted')) {
    say(dim('One that is not trusted does not start. Look at what it does, then: retinue mcp trust <name>'))
  }
  complain(problems, notes)
  return problems.length === 0 ? 0 : 1
}

/** Lets a server of a project file start, after saying exactly what that means. */
export async function mcpTrust(name: string, options: Options): Promise<number> {
  const project = await open(options)
  const changed = await project.trust(name)
  const server = project.servers.find((candidate) => candidate.name === name) as Server
  const { from, does, gets } = describeServer(project.shown(server))
  if (from === 'user') say(`${name} is in your own configuration: it needs no trust.`)
  else say(`${name} ${changed ? 'may start from now on' : 'was trusted already'}, in this folder, as: ${line(does)}`)
  if (from === 'project' && gets.length > 0) say(`It gets these variables of your environment: ${gets.join(', ')}`)
  return 0
}

export async function mcpUntrust(name: string, options: Options): Promise<number> {
  const changed = await (await open(options)).untrust(name)
  say(changed ? `${name} does not start here any more.` : `${name} was not trusted here.`)
  return 0
}

/** Starts the servers that may start and says what they offer. */
export async function mcpTools(name: string | undefined, options: Options): Promise<number> {
  const project = await open(options)
  const connections = await project.connect(name)
  try {
    const { servers, tools } = connections
    const failed = servers.some(({ state }) => state === 'failed' || state === 'untrusted')
    if (options.json) {
      const offered = tools.map((tool) => ({
        name: tool.name,
        server: tool.server,
        effect: tool.effect,
        parameters: tool.parameters(),
      }))
      say(JSON.stringify({ servers, tools: offered }))
      return failed ? 1 : 0
    }
    const { green, red, yellow, dim, bold } = paintFor(process.stdout, process.env)
    const colours = { ready: green, failed: red, untrusted: yellow, disabled: dim }
    for (const server of servers) {
      const version = server.version === null ? '' : ` ${line(server.version)}`
      const many = server.state === 'ready' ? `, ${plural(server.tools.length, 'tool')}` : ''
      say(`${bold(server.name)}${version}: ${colours[server.state](server.state)}${many}`)
      if (server.message !== null) say(`  ${dim(line(server.message))}`)
      for (const tool of server.tools) say(`  ${tool}`)
    }
    if (servers.length === 0) say('No MCP servers here.')
    complain(project.problems, [])
    return failed ? 1 : 0
  } finally {
    await connections.close()
  }
}

function complain(problems: readonly string[], notes: readonly string[]): void {
  for (const text of [...problems, ...notes]) process.stderr.write(`${line(text)}\n`)
}

export function describeServer({ name, settings, from, file, trusted }: Server) {
  const state = settings.enabled === false ? 'disabled' : trusted ? 'trusted' : 'untrusted'
  const words = [settings.command ?? '', ...(settings.args ?? [])].map(quoted).join(' ')
  const env = Object.entries(settings.env ?? {}).map(([key, value]) => `${key}=${quoted(value)} `)
  const headers = Object.entries(settings.headers ?? {}).map(([key, value]) => ` ${key}: ${value}`)
  const where = settings.cwd === undefined ? '' : ` in ${settings.cwd}`
  const does = settings.url === undefined ? `${env.join('')}${words}${where}` : `${settings.url}${headers.join(',')}`
  return { name, from, file, state, does, gets: variablesOf(settings) }
}

function quoted(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word)
}

/** What of the person's environment goes into the server. */
function variablesOf(settings: Server['settings']): string[] {
  const { command = '', args = [], env = {}, url = '', headers = {} } = settings
  const texts = [command, ...args, ...Object.values(env), url, ...Object.values(headers)]
  const found = texts.flatMap((text) => [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g)])
  return [...new Set(found.map((match) => match[1] as string))]
}
