import type { ErrorCode, RunResult } from '../index.js'

/** Exit codes, as documented in docs/cli.md. Where other agents' command lines have one for the case, it is theirs. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  auth: 41,
  input: 42,
  configuration: 52,
  turns: 53,
  budget: 55,
  interrupted: 130,
  pipe: 141,
  terminated: 143,
} as const

const BY_ERROR: Record<ErrorCode, number> = {
  input: EXIT.input,
  config: EXIT.configuration,
  model: EXIT.configuration,
  auth: EXIT.auth,
  not_found: EXIT.input,
  denied: EXIT.failed,
  conflict: EXIT.failed,
  held: EXIT.failed,
  abandoned: EXIT.terminated,
  corrupt: EXIT.failed,
  store: EXIT.failed,
}

export function exitOfError(code: ErrorCode): number {
  return BY_ERROR[code]
}

export function exitOfResult(result: RunResult): number {
  switch (result.outcome) {
    case 'completed':
      return EXIT.ok
    case 'budget_exceeded':
      return result.cause === 'turns' ? EXIT.turns : EXIT.budget
    case 'timeout':
      return EXIT.budget
    case 'cancelled':
      return EXIT.interrupted
    case 'error':
      return result.cause === 'auth' ? EXIT.auth : EXIT.failed
    default:
      return EXIT.failed
  }
}
