import {
  type CommandOutcome,
  type PrincipalRole,
  plainLine,
  quoted,
  SESSION_ID,
  SESSION_ID_FAULT,
} from '../../domain/index.js'
import { type ControlRefusal, refused } from '../done.js'
import type { ControlPlace } from '../place.js'
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

/** What is to be done, once it is understood. `looks`: it changes nothing and starts nothing. */
export type ControlWork<T> = { ok: true; looks: boolean; work: () => Promise<Result<T>> } | ControlRefusal

type Result<T> = ({ ok: true } & T) | ControlRefusal

export type Caller = Pick<ControlPlace, 'principal' | 'session_id' | 'records' | 'redactor' | 'now' | 'new_id'>

/**
 * The one way in which anything is done with the control plane: the role is checked, the control log has a request, it
 * is done, and the log has a result, whatever came of it. What cannot be requested is not done. What only looks, or is
 * refused before it begins, has a result alone.
 */
export async function executed<T extends { said: string }>(
  caller: Caller,
  call: ControlCall,
  understand: () => ControlWork<T>,
): Promise<Result<T>> {
  const begun = await telling(null, async () => sessionIdFault(caller) ?? roleFault(caller, call) ?? understand())
  const requested = begun.ok && !begun.looks ? await request(caller, call) : null
  if (requested?.ok === false) return requested
  const request_id = requested?.request_id ?? null
  const result = begun.ok ? await telling(request_id, begun.work) : begun
  const outcome = result.ok ? 'success' : result.code === 'denied' ? 'denied' : 'failure'
  await conclude(caller, call, { request_id, outcome, message: result.ok ? result.said : result.message })
  return result

  async function telling<R>(request_id: string | null, work: () => Promise<R>): Promise<R> {
    try {
      return await work()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      await conclude(caller, call, { request_id, outcome: 'failure', message })
      throw error
    }
  }
}

function roleFault({ principal }: Caller, { least, what, command }: ControlCall): ControlRefusal | null {
  return least === null ? null : denial(principal, least, what ?? command)
}

function sessionIdFault({ session_id }: Caller): ControlRefusal | null {
  if (session_id === null || SESSION_ID.test(session_id)) return null
  return refused('input', `${quoted(session_id)} is no id of a session: ${SESSION_ID_FAULT}.`)
}

/** Durable when it answers. */
async function request(caller: Caller, call: ControlCall): Promise<{ ok: true; request_id: string } | ControlRefusal> {
  const { records, now, new_id } = caller
  const request_id = new_id()
  const data = { request_id, ...asked(caller, call) }
  try {
    await records.appendControl([{ type: 'control.command_requested', version: 1, at: now(), data }])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return refused('store', `Nothing was done, because the control log cannot be written: ${why}`)
  }
  return { ok: true, request_id }
}

async function conclude(
  caller: Caller,
  call: ControlCall,
  { request_id, outcome, message }: { request_id: string | null; outcome: CommandOutcome; message: string },
): Promise<void> {
  const { records, redactor, now } = caller
  const said = plainLine(redactor.redact(message), LONGEST_MESSAGE)
  const data = { request_id, ...asked(caller, call), outcome, message: said }
  await records.appendControl([{ type: 'control.command_executed', version: 1, at: now(), data }])
}

function asked(caller: Caller, { command, given }: ControlCall) {
  const { principal, session_id, redactor } = caller
  return {
    command,
    // Without secrets first: what is left out or cut could be what they are known by.
    arguments: plainLine(redactor.redact(given), LONGEST_ARGUMENTS),
    principal: principal.id,
    role: principal.role,
    session_id: sessionIdFault(caller) === null ? session_id : null,
  }
}
