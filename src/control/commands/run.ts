import type { CommandOutcome } from '../../domain/index.js'
import { plainLine, plainText } from '../../domain/index.js'
import { type ControlRefusal, refused } from '../done.js'
import { denial } from '../principals/gate.js'
import type { Command, CommandAnswer } from './command.js'
import { type Caller, type ControlCall, type ControlWork, executed } from './executed.js'
import { findCommand, isCommandLine } from './line.js'

/** What a command came to. `data`: the same as `text`, for programs. */
export type CommandResult = { outcome: CommandOutcome; text: string; data: unknown }

type Answer = Exclude<CommandAnswer, ControlRefusal> & { said: string }

/** Does what a line says: finds its command, checks who may, runs it, and writes it to the control log. */
export async function runCommand(commands: readonly Command[], line: string, caller: Caller): Promise<CommandResult> {
  const { call, understand } = find(commands, line.trimEnd(), caller)
  const result = await executed<Answer>(caller, call, understand)
  const { redactor } = caller
  if (result.ok) {
    return { outcome: 'success', text: plainText(redactor.redact(result.text)), data: redactor.redactAll(result.data) }
  }
  const message = plainText(redactor.redact(result.message))
  const outcome = result.code === 'denied' ? 'denied' : 'failure'
  return { outcome, text: message, data: { error: { code: result.code, message } } }
}

type Found = { call: ControlCall; understand: () => ControlWork<Answer> }

function find(commands: readonly Command[], line: string, { principal, session_id }: Caller): Found {
  const wrong = (message: string): Found => ({
    call: { command: 'unknown', given: line, least: null },
    understand: () => refused('input', message),
  })
  if (!isCommandLine(line)) return wrong('This is no command: a command begins with / and a letter. See /help.')
  const found = findCommand(commands, line)
  if (!found.ok) return wrong([found.message, ...found.group.map(({ usage }) => `  ${usage}`)].join('\n'))
  const { command, given } = found
  return {
    call: { command: command.name, given, least: command.least, what: `/${command.name}` },
    understand() {
      const prepared = command.prepare(given)
      if (!prepared.ok) return refused('input', wrongUse(command, prepared.message))
      const fault = denial(principal, prepared.least, `/${command.name} ${plainLine(given, 60)}`)
      if (fault) return fault
      const work = async () => {
        const answer = await prepared.run({ principal, session_id })
        return answer.ok ? { ...answer, said: answer.said ?? (answer.text.split('\n', 1)[0] as string) } : answer
      }
      return { ok: true, looks: prepared.looks, work }
    },
  }
}

/** What was wrong, how it is right, and how that looks. */
function wrongUse({ usage, example }: Command, message: string): string {
  return [message, `Usage:   ${usage}`, `Example: ${example}`].join('\n')
}
