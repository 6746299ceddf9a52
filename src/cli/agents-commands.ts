import type { Command } from 'commander'
import { guard } from './guard.js'
import { collect, within, withStore } from './options.js'

/** Who the sub-agents are: the same as /agents in a chat, for scripts. */
export function addAgents(program: Command): Command {
  const agents = program
    .command('agents')
    .description('profiles, handles and pins: who the agents are, and who is used')
  const add = (name: string, description: string, options: { isDefault?: boolean } = {}) =>
    withStore(agents.command(name, options))
      .description(description)
      .option('--as <principal>', 'in the name of somebody of the configuration')
      .option('--json', 'as JSON')
  const scopes = (command: Command) =>
    command
      .option('--session <id>', 'for one session')
      .option('--user', 'for everything that you do')
      .option('--workspace', 'for this folder')
      .option('--global', 'for everybody who uses this store')

  add('list', 'handles, profiles with where they come from, and pins', { isDefault: true })
    .option('--session <id>', 'with the pin of this session')
    .action(guard(async (options) => (await import('./commands/agents.js')).agentsList(options)))
  add('show', 'one profile in full, by its name or a handle')
    .argument('<name>')
    .action(guard(async (name: string, options) => (await import('./commands/agents.js')).agentsShow(name, options)))
  add('register', 'give a profile a handle; one that is there is replaced')
    .argument('<handle>', 'such as @writer')
    .argument('<profile>', 'the name of a profile')
    .argument('<description>', 'what it is good for, at most 300 characters')
    .option('--tag <tag>', 'may be given more than once', collect)
    .option('--skills <names>', 'forwarded where nobody asks for others, with commas between them')
    .option('--allowed-skills <names>', 'at most these; empty for none')
    .option('--mcp <names>', 'MCP servers that it has where nobody asks for others')
    .option('--allowed-mcp <names>', 'at most these; empty for none')
    .action(
      guard(async (handle: string, profile: string, description: string, options) =>
        (await import('./commands/agents.js')).agentsRegister(handle, profile, description, options),
      ),
    )
  add('unregister', 'take a handle away')
    .argument('<handle>')
    .action(
      guard(async (handle: string, options) =>
        (await import('./commands/agents.js')).agentsUnregister(handle, options),
      ),
    )
  scopes(add('pin', 'choose the profile that runs have'))
    .argument('<name>', 'a handle or the name of a profile')
    .action(guard(async (name: string, options) => (await import('./commands/agents.js')).agentsPin(name, options)))
  scopes(add('unpin', 'take that choice back')).action(
    guard(async (options) => (await import('./commands/agents.js')).agentsUnpin(options)),
  )
  agents
    .command('import')
    .description('copy agent files of other tools into files of ours, and say of each key what became of it')
    .argument('[paths...]', 'files or folders; without, those of the project')
    .option('--cwd <folder>', 'work there instead of in the current folder')
    .option('--home', 'those of your home folder too')
    .option('--to <folder>', 'where they are written, instead of .retinue/agents')
    .option('--dry-run', 'only say what would be done')
    .option('--force', 'replace files that are there')
    .option('--json', 'as JSON')
    .action(
      guard(async (paths: string[], options) =>
        (await import('./commands/agents-import.js')).agentsImport(paths, options),
      ),
    )
  add('put', 'keep a profile in the store: it stands before files of its name')
    .argument('<name>')
    .argument('<file>', 'YAML, JSON or an agent file; - takes it from stdin')
    .option('--expect <version>', 'refuse if the store has another version by now; 0: if it has any', within(0, 1e9))
    .action(
      guard(async (name: string, file: string, options) =>
        (await import('./commands/agents.js')).agentsPut(name, file, options),
      ),
    )
  add('remove', 'take a profile out of the store')
    .argument('<name>')
    .action(guard(async (name: string, options) => (await import('./commands/agents.js')).agentsRemove(name, options)))
  add('history', 'every version of the registry, or of a profile in the store, oldest first')
    .argument('[profile]')
    .action(
      guard(async (profile: string | undefined, options) =>
        (await import('./commands/agents.js')).agentsHistory(profile, options),
      ),
    )
  add('registry', 'the registry as JSON')
    .option('--set <file>', 'replace all of it; - takes it from stdin')
    .option('--expect <version>', 'refuse if it has another version by now', within(0, 1e9))
    .action(guard(async (options) => (await import('./commands/agents.js')).agentsRegistry(options)))
  return agents
}
