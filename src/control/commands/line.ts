import { nearest, quoted } from '../../domain/index.js'
import type { Command } from './command.js'

/**
 * Whether a line is a command: a slash and a letter at its very beginning. With a second slash in its first word it is a
 * path, and means what it says.
 */
export function isCommandLine(line: string): boolean {
  return /^\/[A-Za-z][^\s/]*(?:\s|$)/.test(line)
}

export type FoundCommand =
  | { ok: true; command: Command; given: string }
  /** `group`: commands that it could have been, where its first word is theirs. */
  | { ok: false; message: string; group: Command[] }

/** The command of a line. `/agents pin @writer` is `agents pin`, not `agents`. */
export function findCommand(commands: readonly Command[], line: string): FoundCommand {
  const [, first = '', rest = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(line) ?? []
  const [, second = '', after = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? []
  const longer = second === '' ? undefined : commands.find(({ name }) => name === `${first} ${second}`)
  if (longer) return { ok: true, command: longer, given: after.trim() }
  const group = commands.filter(({ name }) => name.split(' ')[0] === first)
  if (group.length === 0) {
    const near = nearest(first, [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))])
    const hint = near === null ? 'see /help' : `did you mean /${near}? See /help`
    return { ok: false, message: `There is no command ${quoted(`/${first}`)}: ${hint}.`, group }
  }
  const command = commands.find(({ name }) => name === first)
  const words = group.flatMap(({ name }) => name.split(' ')[1] ?? [])
  const is_option = second.startsWith('-')
  if (command && (second === '' || is_option || words.length === 0)) return { ok: true, command, given: rest.trim() }
  const near = nearest(second, words)
  const hint = near === null ? `there are ${words.join(', ')}` : `did you mean /${first} ${near}?`
  const what = second === '' ? `/${first} needs a word after it` : `There is no ${quoted(`/${first} ${second}`)}`
  return { ok: false, message: `${what}: ${hint}`, group }
}
