import { CorruptLogError, RetinueError } from '../index.js'
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
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const database = error.code.startsWith('SQLITE')
    process.stderr.write(`retinue: ${database ? 'the database cannot be used: ' : ''}${error.message}\n`)
    return EXIT.failed
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`retinue: this is a bug in Retinue, please report it:\n${text}\n`)
  return EXIT.failed
}
