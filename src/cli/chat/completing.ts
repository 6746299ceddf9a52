import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Command, MODES, PIN_SCOPES } from '../../index.js'
import { addressable, choicesOf } from './choices.js'
import { type CompletedCommand, createCompleter } from './complete.js'
import type { Room } from './room.js'
import type { Completer } from './screen.js'

const SCOPES = PIN_SCOPES.map((scope) => `--${scope}`)

/** What can be completed in a chat: its commands, the handles that there are, and files. */
export function createChatCompleter(
  room: Pick<Room, 'retinue' | 'as' | 'tasks'>,
  commands: readonly Command[],
): Completer {
  const { retinue, tasks } = room
  const agents = async () => addressable(await choicesOf(room))
  const named = async () => (await choicesOf(room)).agents.map(({ name, description }) => ({ name, note: description }))
  return createCompleter({
    commands: () => completed(commands, named, () => tasks.ids),
    handles: agents,
    files: (prefix) => filesFrom(retinue.cwd, prefix),
  })
}

type Handles = () => Promise<{ name: string; note: string }[]>

function completed(own: readonly Command[], agents: Handles, tasks: () => string[]): CompletedCommand[] {
  const pinning = { options: SCOPES }
  return [
    { name: 'help', note: 'lists the commands, or says how one is used' },
    {
      ...{ name: 'agents', note: 'lists agents, profiles and pins' },
      subcommands: [
        { name: 'show', note: 'says all about an agent or a profile', values: agents },
        { name: 'register', note: 'adds an agent, or replaces the one of that handle' },
        { name: 'unregister', note: 'removes an agent; its profile stays', values: agents },
        { name: 'pin', note: 'makes it the profile of what is asked from now on', values: agents, ...pinning },
        { name: 'unpin', note: 'removes that choice', ...pinning },
      ],
    },
    ...own.map(({ name, summary }) => ({ name, note: summary, ...values(name, tasks) })),
  ]
}

function values(name: string, tasks: () => string[]): Pick<CompletedCommand, 'values'> {
  const some = (names: readonly string[]) => ({ values: async () => names.map((each) => ({ name: each })) })
  if (name === 'mode') return some(MODES)
  if (name === 'stop') return some([...tasks(), 'all'])
  return ['await', 'show', 'resume'].includes(name) ? some(tasks()) : {}
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
