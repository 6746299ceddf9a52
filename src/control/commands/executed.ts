import { type CommandOutcome, type PrincipalRole, SESSION_ID, SESSION_ID_FAULT } from '../../domain/index.js'
import { type ControlRefusal, refused } from '../done.js'
import type { ControlPlace } from '../place.js'
import { plainLine, quoted } from '../plain.js'
import { denial } from '../principals/gate.js'

/** Longer than any command that can succeed. */
const LONGEST_ARGUMENTS = 2000
const LONGEST_MESSAGE = 300

export type ControlCall = {
  /** As the control log has it, such as `agents pin`. */
  command: string
  /** What was given with it. */
  given: string
  /** null: what was given says so, and whoever understands it asks. */
  least: PrincipalRole | null
  /** What the role is needed for, where that is not every use of the command. */
  what?: string
}

export type Caller = Pick<ControlPlace, 'principal' | 'session_id' | 'records' | 'redactor' | 'now'>

/**
 * The one way in which anything is done with the control plane: the role is checked, it is done, and the control log has
 * one event that says so, whatever came of it.
 */
export async function executed<T extends { said: string }>(
  caller: Caller,
  call: ControlCall,
  work: () => Promise<({ ok: true } & T) | ControlRefusal>,
): Promise<({ ok: true } & T) | ControlRefusal> {
  const fault = sessionIdFault(caller) ?? roleFault(caller, call)
  let result: ({ ok: true } & T) | ControlRefusal
  try {
    result = fault ?? (await work())
  } catch (error) {
    await write(caller, call, 'failure', error instanceof Error ? error.message : String(error))
    throw error
  }
  const outcome = result.ok ? 'success' : result.code === 'denied' ? 'denied' : 'failure'
  await write(caller, call, outcome, result.ok ? result.said : result.message)
  return result
}

function roleFault({ principal }: Caller, { least, what, command }: ControlCall): ControlRefusal | null {
  return least === null ? null : denial(principal, least, what ?? command)
}

function sessionIdFault({ session_id }: Caller): ControlRefusal | null {
  if (session_id === null || SESSION_ID.test(session_id)) return null
  return refused('input', `${quoted(session_id)} is no id of a session: ${SESSION_ID_FAULT}.`)
}

async function write(
  caller: Caller,
  { command, given }: ControlCall,
  outcome: CommandOutcome,
  message: string,
): Promise<void> {
  const { principal, session_id, records, redactor, now } = caller
  await records.appendControl([
    {
      type: 'control.command_executed',
      version: 1,
      at: now(),
      data: {
        command,
        // Without secrets first: what is left out or cut could be what they are known by.
        arguments: plainLine(redactor.redact(given), LONGEST_ARGUMENTS),
        principal: principal.id,
        role: principal.role,
        outcome,
        message: plainLine(redactor.redact(message), LONGEST_MESSAGE),
        session_id: sessionIdFault(caller) === null ? session_id : null,
      },
    },
  ])
}
