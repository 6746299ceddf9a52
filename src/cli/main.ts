import { isatty } from 'node:tty'
import { Command, CommanderError, Option } from 'commander'
import { VERSION, WORKER_BOUNDS } from '../index.js'
import { addAgents } from './agents-commands.js'
import { EXIT } from './exit.js'
import { guard } from './guard.js'
import {
  address,
  grace,
  labels,
  maxConcurrent,
  positive,
  withContract,
  withDetach,
  within,
  withOutput,
  withPlace,
  withPlanning,
  withStore,
} from './options.js'
import { addPlan } from './plan-commands.js'

/** The command line: one function a command, loaded when it is used. */
export function createProgram(): Command {
  const program = new Command('retinue')
    .description('Sub-agents under contract: every step in a durable log, every limit enforced.')
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(retinue --help shows what there is)')
    .configureHelp({ sortSubcommands: false })
    .exitOverride()

  withDetach(withPlanning(withContract(withOutput(program.command('run', { isDefault: true })))))
    .description('do a task in the current folder; `retinue "task"` is short for it')
    .argument('[task...]', 'what is to be done; - takes it from stdin')
    .option('--plan', 'make a plan for it, show it, and carry it out after a yes, as retinue plan does')
    .option('-c, --continue', 'go on with the last session in this folder')
    .option('-r, --resume <id>', 'go on with the session of this run, or with the run itself when no task is given')
    .option('--web', 'open a window on it in the browser, which stays until Ctrl-C')
    .action(guard(async (words: string[], options) => (await import('./commands/run.js')).run(words, options)))

  const plan = addPlan(program)

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

  withDetach(withOutput(program.command('resume')))
    .description('go on with a run whose process ended')
    .argument('<run>', 'its id, or the beginning of it')
    .action(guard(async (id: string, options) => (await import('./commands/resume.js')).resume(id, options)))

  withStore(program.command('runs'))
    .description('list the runs in the store, newest first')
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

  withStore(program.command('answer'))
    .description('what a run asks, wherever it runs, and answering it')
    .argument('<run>', 'its id, or the beginning of it')
    .option('--allow', 'yes, this once; to a plan or a step: carry it out')
    .addOption(new Option('--deny', 'no').conflicts(['allow', 'always', 'text']))
    .addOption(
      new Option('--always', 'yes, and to all that the question names for the rest of the run').conflicts('text'),
    )
    .option('--note <text>', 'why, or what instead: the agent is told')
    .addOption(new Option('--text <text>', 'the answer to a question of the agent').conflicts('allow'))
    .option('--call <id>', 'which, where it asks more than one thing: as it is listed')
    .option('--json', 'one JSON object a line')
    .action(guard(async (id: string, options) => (await import('./commands/answer.js')).answer(id, options)))

  withStore(program.command('pause'))
    .description('let the steps at work be finished and begin no others, wherever a plan runs; resume goes on with it')
    .argument('<run>', 'its id, or the beginning of it')
    .option('--reason <text>', 'kept in the log', 'paused from the command line')
    .option('--json', 'the run as JSON')
    .action(guard(async (id: string, options) => (await import('./commands/pause.js')).pause(id, options)))

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

  withStore(program.command('serve'))
    .description('show runs and agents in the browser, and let them be started and answered there')
    .option('--host <address>', 'where to listen, instead of 127.0.0.1; others than this machine need users')
    .option('--port <n>', 'the port, instead of 4774; 0 is any that is free', within(0, 65_535))
    .option('--open', 'open it in the browser')
    .option('--new-token <name>', 'make a token for a user of the configuration, and end')
    .option('--json', 'one line of JSON with the address and the token')
    .addOption(maxConcurrent())
    .action(guard(async (options) => (await import('./commands/serve.js')).serve(options)))

  withPlace(program.command('worker'))
    .description('work on the runs that are given to the workers of this folder, until it is ended: the engine dbos')
    .option('--concurrency <n>', 'agents at work at once on this worker', within(...WORKER_BOUNDS))
    .option('--labels <names>', 'what this machine has that others have not, such as gpu,office', labels)
    .option('--at-once <n>', 'agents at work at once on all workers of the folder', within(...WORKER_BOUNDS))
    .option('--per-run <n>', 'the same of one run', within(...WORKER_BOUNDS))
    .option('--health <address>', 'answer /health and /metrics there: a port of this machine, or host:port', address)
    .option(
      '--grace <seconds>',
      'so long agents at work may go on when it is ended; others take them up then',
      grace,
      20,
    )
    .option('--json', 'one JSON object a line for what happens')
    .action(guard(async (options) => (await import('./commands/worker.js')).worker(options)))

  withPlace(program.command('workers'))
    .description('list the workers of this folder that are there')
    .option('--all', 'those of every folder that shares the database')
    .option('--json', 'one JSON object a line')
    .action(guard(async (options) => (await import('./commands/workers.js')).workers(options)))

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

  for (const command of [...program.commands, ...mcp.commands, ...agents.commands, ...plan.commands])
    command.exitOverride().showHelpAfterError('(add --help to see how it is used)')
  return program
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
