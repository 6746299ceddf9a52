import { findCommand, isCommandLine } from '../../index.js'
import { chatCommands } from './commands/table.js'
import type { Room } from './room.js'

/** What was said, where it is a command that was not quite written as one: `/` alone, or blanks in front of it. */
export function meant(room: Room, text: string): string {
  const line = text.trimStart()
  if (line.trimEnd() === '/') return '/help'
  if (line === text || !isCommandLine(line)) return text
  const found = findCommand(room.control.commands(chatCommands(room, new AbortController().signal)), line)
  return found.ok || found.group.length > 0 ? line : text
}
