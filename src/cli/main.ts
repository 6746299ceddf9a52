import { isatty } from 'node:tty'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { DELEGATION_BOUNDS, MODES, NETWORKS, VERSION } from '../index.js'
import { EXIT } from './exit.js'
import { guard } from './guard.js'

/** How what comes out looks. */
function withOutput(command: Command): Command {
  return withStore(command)
    .option('-p, --print', 'headless: no questions, no progress, only the answer on stdout')
    .addOption(
      new Option('--output-format <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--record <file>', 'write the answers of the model to a script that scripted/<file> plays again')
    .addOption(maxConcurrent())
}

/** What goes into the contract of a new run. A resumed one keeps the contract it has. */
function withContract(command: Command): Command {
  return command
    .option('-m, --model <provider/model>', 'the model to use, or the name of a pool')
    .option('--agent <name>', 'the profile or handle that the agent has, instead of the pinned one')
    .option('--no-agent', 'no profile, whatever is pinned')
    .addOption(new Option('--mode <mode>', 'what may happen without asking').choices([...MODES]))
    .addOption(new Option('--permission-mode <mode>', 'same as --mode').choices([...MODES]).hideHelp())
    .option('--max-turns <n>', 'model turns before it must report', positive)
    .option('--max-tool-calls <n>', 'tool calls before it must report', positive)
    .option('--max-budget-usd <amount>', 'model costs, in US dollars, before it must report', dollars)
    .option('--timeout <seconds>', 'time before it is stopped', seconds)
    .option('--max-agents <n>', 'sub-agents of the whole run', within(0, Number.MAX_SAFE_INTEGER))
    .option(
      '--max-depth <n>',
      'how deep the tree of agents may be; 1: sub-agents have none of their own',
      within(0, DELEGATION_BOUNDS.max_depth[1]),
    )
    .option('--no-delegation', 'no sub-agents')
    .addOption(
      new Option('--commit', 'commit what sub-agents wrote, instead of leaving it uncommitted').conflicts('land'),
    )
    .option('--no-land', 'leave what sub-agents wrote on a branch; retinue apply brings it into the folder')
    .addOption(
      new Option('--network <reach>', 'who reaches the network: commands too, or only tools').choices([...NETWORKS]),
    )
}

/** The command line: one function a command, loaded when it is used. */
export function createProgram(): Command {
  const program = new Command('retinue')
    .description('Sub-agents under contract: every step in a durable log, every limit enforced.')
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(retinue --help shows what there is)')
    .configureHelp({ sortSubcommands: false })
    .exitOverride()

  withContract(withOutput(program.command('run', { isDefault: true })))
    .description('do a task in the current folder; `retinue "task"` is short for it')
    .argument('[task...]', 'what is to be done; - takes it from stdin')
    .option('-c, --continue', 'go on with the last session in this folder')
    .option('-r, --resume <id>', 'go on with the session of this run, or with the run itself when no task is given')
    .action(guard(async (words: string[], options) => (await import('./commands/run.js')).run(words, options)))

  withContract(withStore(program.command('chat')))
    .description('talk: a session with commands, sub-agents by their handles, and work in the background')
    .argument('[message...]', 'what to say first')
    .option('-c, --continue', 'go on with the last session in this folder')
    .addOption(
      new Option('-r, --resume <id>', 'go on with this session, or with that of this run').conflicts('continue'),
    )
    .option('--as <principal>', 'in the name of somebody of the configuration')
    .addOption(maxConcurrent())
    .action(guard(async (words: string[], options) => (await import('./commands/chat.js')).chat(words, options)))

  withOutput(program.command('resume'))
    .description('go on with a run whose process ended')
    .argument('<run>', 'its id, or the beginning of it')
    .action(guard(async (id: string, options) => (await import('./commands/resume.js')).resume(id, options)))

  withStore(program.command('runs'))
    .description('list the runs of this folder, newest first')
    .option('--limit <n>', 'at most so many', positive, 20)
    .option('--json', 'one JSON object a line')
    .action(guard(async (options) => (await import('./commands/runs.js')).runs(options)))

  withStore(program.command('show'))
    .description('what happened in a run, or what one of its agents was told, did and reported')
    .argument('<run>')
    .argument('[agent]', 'its id: a1, a2.1, root')
    .option('--full', 'every event with all its details')
    .option('--report', 'only the report, whole; with --json as JSON')
    .option('--json', 'the events as they are, one a line')
    .action(
      guard(async (id: string, agent: string | undefined, options) =>
        (await import('./commands/show.js')).show(id, agent, options),
      ),
    )

  withStore(program.command('watch'))
    .description('follow a run that another process is working on')
    .argument('<run>')
    .option('--json', 'the events as they are, one a line')
    .action(guard(async (id: string, options) => (await import('./commands/watch.js')).watch(id, options)))

  withStore(program.command('cancel'))
    .description('cancel a run, or one sub-agent and all below it, wherever it runs, and wait until it is closed')
    .argument('<run>')
    .argument('[agent]', 'its id: a1, a2.1')
    .option('--reason <text>', 'kept in the log', 'cancelled from the command line')
    .option('--json', 'the result as JSON')
    .action(
      guard(async (id: string, agent: string | undefined, options) =>
        (await import('./commands/cancel.js')).cancel(id, agent, options),
      ),
    )

  withStore(program.command('replay'))
    .description('rebuild every request of a run from its log and compare it with what was sent')
    .argument('<run>')
    .option('--json', 'the rebuilt requests, one a line')
    .option('--script <file>', 'also write the answers of the model to a script that scripted/<file> plays again')
    .action(guard(async (id: string, options) => (await import('./commands/replay.js')).replay(id, options)))

  withStore(program.command('diff'))
    .description('what a run changed in worktrees, or what one of its sub-agents has kept, as git diff writes it')
    .argument('<run>')
    .argument('[agent]', 'its id: a1, a2.1')
    .option('--stat', 'only a line for each file')
    .option('--json', 'as JSON')
    .action(
      guard(async (id: string, agent: string | undefined, options) =>
        (await import('./commands/diff.js')).diff(id, agent, options),
      ),
    )

  withStore(program.command('apply'))
    .description(
      'bring what a run, or one of its sub-agents, has kept on a branch into the folder: all of it or nothing',
    )
    .argument('<run>')
    .argument('[agent]', 'its id: a1, a2.1')
    .option('--commit', 'and commit it; without, it is left uncommitted')
    .option('--json', 'as JSON')
    .action(
      guard(async (id: string, agent: string | undefined, options) =>
        (await import('./commands/apply.js')).apply(id, agent, options),
      ),
    )

  withStore(program.command('discard'))
    .description('remove the worktrees and branches of a run, with the work that is nowhere else')
    .argument('<run>')
    .option('--yes', 'without asking')
    .option('--json', 'as JSON')
    .action(guard(async (id: string, options) => (await import('./commands/discard.js')).discard(id, options)))

  withStore(program.command('worktrees'))
    .description('list the worktrees and branches of runs, and why each is there')
    .option('--json', 'one JSON object a line; [] where there is nothing')
    .action(guard(async (options) => (await import('./commands/worktrees.js')).worktrees(options)))

  withStore(program.command('gc'))
    .description('remove the worktrees and branches with which nothing would be lost')
    .option('--json', 'as JSON')
    .action(guard(async (options) => (await import('./commands/worktrees.js')).gc(options)))

  program
    .command('demo')
    .description('a real run in a temporary repository, without a model or a key')
    .action(guard(async () => (await import('./commands/demo.js')).demo()))

  withStore(program.command('adopt'))
    .description('take over the database of this folder, where it was copied or came with the repository')
    .action(guard(async (options) => (await import('./commands/adopt.js')).adopt(options)))

  withStore(program.command('doctor'))
    .description('what this machine has, what it lacks, and what to do about it')
    .option('--json', 'as JSON')
    .action(guard(async (options) => (await import('./commands/doctor.js')).doctor(options)))

  const mcp = program.command('mcp').description('the MCP servers of this folder: which there are and which may start')
  const here = (command: Command) => command.option('--cwd <folder>', 'work there instead of in the current folder')
  here(mcp.command('list'))
    .description('where each comes from, whether it may start, and what it runs')
    .option('--json', 'as JSON')
    .action(guard(async (options) => (await import('./commands/mcp.js')).mcpList(options)))
  here(mcp.command('trust'))
    .description('let a server of a project file start, exactly as it is written now')
    .argument('<name>')
    .action(guard(async (name: string, options) => (await import('./commands/mcp.js')).mcpTrust(name, options)))
  here(mcp.command('untrust'))
    .description('take that back')
    .argument('<name>')
    .action(guard(async (name: string, options) => (await import('./commands/mcp.js')).mcpUntrust(name, options)))
  here(mcp.command('tools'))
    .description('start the servers that may start, and list their tools')
    .argument('[name]', 'only this one')
    .option('--json', 'as JSON, with the schemas')
    .action(
      guard(async (name: string | undefined, options) => (await import('./commands/mcp.js')).mcpTools(name, options)),
    )

  const agents = addAgents(program)

  withStore(program.command('audit'))
    .description('who changed, or tried to change, which agents there are: the control log, oldest first')
    .option('--last <n>', 'the newest so many', positive, 50)
    .option('--as <principal>', 'in the name of somebody of the configuration')
    .option('--json', 'one JSON object a line')
    .action(guard(async (options) => (await import('./commands/audit.js')).audit(options)))

  program
    .command('init')
    .description('write a retinue.yaml with every setting explained')
    .option('--cwd <folder>', 'where')
    .action(guard(async (options) => (await import('./commands/init.js')).init(options)))

  for (const command of [...program.commands, ...mcp.commands, ...agents.commands])
    command.exitOverride().showHelpAfterError('(add --help to see how it is used)')
  return program
}

/** Who the sub-agents are: the same as /agents in a chat, for scripts. */
function addAgents(program: Command): Command {
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

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

export async function main(argv: readonly string[]): Promise<void> {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  let gone = false
  const hangUp = () => {
    if (gone) return
    gone = true
    // Whoever listens leaves in order; the terminal may have sent the signal too.
    if (process.listenerCount('SIGHUP') > 0) process.emit('SIGHUP')
    else endWithoutTerminal()
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO') return hangUp()
    // Whoever read our output went away (`| head`): there is nobody to work for. A run can be resumed.
    if (error.code === 'EPIPE') process.exit(EXIT.pipe)
    process.stderr.write(`retinue: stdout cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO') hangUp()
    else process.exit(EXIT.failed)
  })
  try {
    await createProgram().parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // commander has said what was wrong; --help and --version end here too, with 0.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  if (terminals.some((fd) => !isatty(fd))) endWithoutTerminal()
}

/** A terminal whose window was closed cannot be put in order again, and Node aborts when it tries that on exit. */
function endWithoutTerminal(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

function withStore(command: Command): Command {
  return command
    .option('--cwd <folder>', 'work there instead of in the current folder')
    .option('--store <file>', 'the database, instead of .retinue/retinue.db in the folder')
}

function maxConcurrent(): Option {
  return new Option('--max-concurrent <n>', 'agents at work at once').argParser(
    within(...DELEGATION_BOUNDS.max_concurrent),
  )
}

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value <= 0) throw new InvalidArgumentError('It must be a positive whole number.')
  return value
}

function within(least: number, most: number): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`
  return (text) => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value
    throw new InvalidArgumentError(`It must be a whole number${range}.`)
  }
}

function dollars(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 1_000_000))
    throw new InvalidArgumentError('It must be an amount in US dollars, such as 2.50.')
  return value
}

function seconds(text: string): number {
  const value = Number(text)
  if (!(value >= 5 && value <= 10_000_000))
    throw new InvalidArgumentError('It must be a number of seconds from 5 to 10000000.')
  return value
}
