import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addressable, choicesOf } from './choices.js'
import type { ChatCommand } from './commands/table.js'
import { type CompletedCommand, createCompleter } from './complete.js'
import type { Room } from './room.js'
import type { Completer } from './screen.js'

/** What can be completed in a chat: its commands, the handles that there are, and files. */
export function createChatCompleter(
  room: Pick<Room, 'retinue' | 'as' | 'control'>,
  commands: readonly ChatCommand[],
): Completer {
  const { retinue, control } = room
  const agents = async () => addressable(await choicesOf(room))
  const named = async () => (await choicesOf(room)).agents.map(({ name, description }) => ({ name, note: description }))
  return createCompleter({
    commands: () => completed(control.commands(commands), named),
    handles: agents,
    files: (prefix) => filesFrom(retinue.cwd, prefix),
  })
}

type Handles = () => Promise<{ name: string; note: string }[]>

/** `agents pin` is what may come after `agents`. */
function completed(commands: readonly ChatCommand[], agents: Handles): CompletedCommand[] {
  const of = (name: string) =>
    commands
      .filter((command) => command.name.startsWith(`${name} `))
      .map((command) => ({ ...facts(command, agents), name: command.name.slice(name.length + 1) }))
  return commands
    .filter(({ name }) => !name.includes(' '))
    .map((command) => ({ ...facts(command, agents), subcommands: of(command.name) }))
}

/** What a command takes it says itself, or its usage does. */
function facts({ name, summary, usage, values }: ChatCommand, agents: Handles): CompletedCommand {
  const own = values && (async () => values().map((each) => ({ name: each })))
  const taken = own ?? (/<@handle\|profile>|<@handle>$/.test(usage) ? agents : undefined)
  return { name, note: summary, options: usage.match(/--[a-z]+/g) ?? [], ...(taken ? { values: taken } : {}) }
}

/** Hidden files only for those who begin with a dot. */
async function filesFrom(cwd: string, prefix: string): Promise<string[]> {
  const folder = prefix.endsWith('/') ? prefix : dirname(prefix) === '.' ? '' : `${dirname(prefix)}/`
  const entries = await readdir(join(cwd, folder), { withFileTypes: true })
  return entries
    .filter(({ name }) => prefix.slice(folder.length).startsWith('.') || !name.startsWith('.'))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
}
