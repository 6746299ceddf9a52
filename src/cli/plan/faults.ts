import { type PlanFault, RetinueError } from '../../index.js'
import type { DriveOptions } from '../drive.js'
import { line, plural } from '../style.js'

/** One line for each, as compilers write them: editors and CI jump to it. */
export function faultLines(name: string, faults: readonly PlanFault[]): string[] {
  return faults.map(({ path, message, line: number }) => {
    const where = `${line(name)}${number === undefined ? '' : `:${number}`}`
    return `${where}: ${path === '' ? '' : `${line(path)}: `}${line(message)}`
  })
}

/** A plan that cannot be carried out, in words. */
export function unsound(name: string, faults: readonly PlanFault[]): string {
  return `the plan has ${plural(faults.length, 'fault')}\n${faultLines(name, faults).join('\n')}`
}

/** Refuses a plan. A program that reads stdout has the faults there, as an object. */
export function refusal(
  { outputFormat }: Pick<DriveOptions, 'outputFormat'>,
  message: string,
  faults: readonly PlanFault[],
): RetinueError {
  const code = 'input'
  if (outputFormat !== 'text') {
    const [said] = message.split('\n', 1)
    process.stdout.write(`${JSON.stringify({ type: 'error', code, message: said, faults })}\n`)
  }
  return new RetinueError(code, message)
}
