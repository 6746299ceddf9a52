import { type Command, InvalidArgumentError, Option } from 'commander'
import { DELEGATION_BOUNDS, LABEL, LABEL_FAULT, MAX_LABELS, MODES, NETWORKS } from '../index.js'

/** How what comes out looks. */
export function withOutput(command: Command): Command {
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

export function withDetach(command: Command): Command {
  return command.option('--detach', 'give it to the workers, print its id, and end; needs the engine dbos')
}

/** What goes into the contract of a new run. A resumed one keeps the contract it has. */
export function withContract(command: Command): Command {
  return withLimits(
    command
      .option('--agent <name>', 'the profile or handle that the agent has, instead of the pinned one')
      .option('--no-agent', 'no profile, whatever is pinned'),
    { depth: 'how deep the tree of agents may be; 1: sub-agents have none of their own', none: 'no sub-agents' },
  )
}

/** The same without who it is: the steps of a plan have agents of their own, whatever is said about delegation. */
export function withPlanLimits(command: Command): Command {
  return withLimits(command, {
    depth: 'how deep the tree of agents may be; 0 or 1: the sub-agents of the steps have none of their own',
    none: 'the sub-agents of the steps have none of their own',
  })
}

function withLimits(command: Command, delegation: { depth: string; none: string }): Command {
  return command
    .option('-m, --model <provider/model>', 'the model to use, or the name of a pool')
    .addOption(new Option('--mode <mode>', 'what may happen without asking').choices([...MODES]))
    .addOption(new Option('--permission-mode <mode>', 'same as --mode').choices([...MODES]).hideHelp())
    .option('--max-turns <n>', 'model turns before it must report', positive)
    .option('--max-tool-calls <n>', 'tool calls before it must report', positive)
    .option('--max-budget-usd <amount>', 'model costs, in US dollars, before it must report', dollars)
    .option('--timeout <seconds>', 'time before it is stopped', seconds)
    .option('--max-agents <n>', 'sub-agents of the whole run', within(0, Number.MAX_SAFE_INTEGER))
    .option('--max-depth <n>', delegation.depth, within(0, DELEGATION_BOUNDS.max_depth[1]))
    .option('--no-delegation', delegation.none)
    .addOption(
      new Option('--commit', 'commit what sub-agents wrote, instead of leaving it uncommitted').conflicts('land'),
    )
    .option('--no-land', 'leave what sub-agents wrote on a branch; retinue apply brings it into the folder')
    .addOption(
      new Option('--network <reach>', 'who reaches the network: commands too, or only tools').choices([...NETWORKS]),
    )
}

/** Where a command works, and on what. */
export function withStore(command: Command): Command {
  return withPlace(command).addOption(
    new Option('--engine <engine>', 'where agents run: in this process, or on workers').choices(['local', 'dbos']),
  )
}

export function withPlace(command: Command): Command {
  return command
    .option('--cwd <folder>', 'work there instead of in the current folder')
    .option('--store <place>', 'a file or a postgres:// URL, instead of .retinue/retinue.db in the folder')
}

export function maxConcurrent(): Option {
  return new Option('--max-concurrent <n>', 'agents at work at once').argParser(
    within(...DELEGATION_BOUNDS.max_concurrent),
  )
}

export function positive(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value <= 0) throw new InvalidArgumentError('It must be a positive whole number.')
  return value
}

export function within(least: number, most: number): (text: string) => number {
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

export function grace(text: string): number {
  const value = Number(text)
  if (!(text.trim() !== '' && value >= 0 && value <= 86_400))
    throw new InvalidArgumentError('It must be a number of seconds from 0 to 86400.')
  return value
}

/** Between commas. */
export function labels(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !LABEL.test(name))
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is none: ${LABEL_FAULT}.`)
  if (names.length > MAX_LABELS) throw new InvalidArgumentError(`At most ${MAX_LABELS} of them.`)
  return names
}

export type Address = { host: string; port: number }

/** `9090`, `127.0.0.1:9090` or `[::1]:9090`. A port alone is one of this machine, which nobody else reaches. */
export function address(text: string): Address {
  const [, host, port] = /^(?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):)?(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('It must be a port, or an address such as 127.0.0.1:9090.')
  return { host: host?.replace(/^\[|\]$/g, '') ?? '127.0.0.1', port: Number(port) }
}

function seconds(text: string): number {
  const value = Number(text)
  if (!(value >= 5 && value <= 10_000_000))
    throw new InvalidArgumentError('It must be a number of seconds from 5 to 10000000.')
  return value
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** How a plan is made and approved. */
export function withPlanning(command: Command): Command {
  return withYes(command)
    .addOption(
      new Option('--research [question]', 'what researchers find out before the plan is made; may be given again')
        .preset(true)
        .argParser((question: string | true, before: unknown) => [...(Array.isArray(before) ? before : []), question]),
    )
    .option('--no-research', 'nobody looks around before the plan is made')
}

export function withYes(command: Command): Command {
  return command.option('--yes', 'carry the plan out without asking, steps that need approval too')
}
