import { CorruptLogError, RetinueError, reasonOf, storeFaultInWords } from '../index.js'
import { EXIT, exitOfError } from './exit.js'

/** Runs a command: its number becomes the exit code, an expected error one line on stderr and its exit code. */
export function guard<A extends unknown[]>(command: (...args: A) => Promise<number>): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      process.exitCode = await command(...args)
    } catch (error) {
      process.exitCode = complain(error)
    }
  }
}

function complain(error: unknown): number {
  if (error instanceof RetinueError) {
    process.stderr.write(`retinue: ${error.message}\n`)
    return exitOfError(error.code)
  }
  if (error instanceof CorruptLogError) {
    process.stderr.write(`retinue: ${error.message}\n`)
    return EXIT.failed
  }
  const fault = storeFaultInWords(error)
  if (fault !== null || (error instanceof Error && 'code' in error && typeof error.code === 'string')) {
    process.stderr.write(`retinue: ${fault ?? reasonOf(error)}\n`)
    return EXIT.failed
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`retinue: this is a bug in Retinue, please report it:\n${text}\n`)
  return EXIT.failed
}
