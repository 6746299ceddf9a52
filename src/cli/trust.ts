import { openServers } from '../index.js'
import { describeServer } from './commands/mcp.js'
import { placeOf, type StoreOptions } from './open.js'
import { line } from './style.js'

/**
 * Asks the person at the terminal about servers of project files that nobody has said anything about here. False: they
 * want to stop.
 */
export async function offerTrust(options: StoreOptions): Promise<boolean> {
  const project = await openServers({ cwd: placeOf(options).cwd, env: process.env })
  const unknown = project.servers.filter(({ trusted, settings }) => !trusted && settings.enabled !== false)
  if (unknown.length === 0) return true
  const { confirm, isCancel } = await import('@clack/prompts')
  for (const server of unknown) {
    const { name, file, does, gets } = describeServer(project.shown(server))
    const variables = gets.length > 0 ? `, with ${gets.join(', ')} of your environment` : ''
    const message = `${line(file)} names the MCP server ${name}. Let it start here, with your rights${variables}, as: ${line(does)}`
    const answer = await confirm({ message, initialValue: false, output: process.stderr })
    if (isCancel(answer)) return false
    if (answer === true) await project.trust(name)
    else process.stderr.write(`  It is left out. Later: retinue mcp trust ${name}\n`)
  }
  return true
}
