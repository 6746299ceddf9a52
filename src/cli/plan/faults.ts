import { type PlanFault, RetinueError } from '../../index.js'
import { line, plural } from '../style.js'

/** One line for each, as compilers write them: editors and CI jump to it. */
export function faultLines(name: string, faults: readonly PlanFault[]): string[] {
  return faults.map(({ path, message, line: number }) => {
    const where = `${line(name)}${number === undefined ? '' : `:${number}`}`
    return `${where}: ${path === '' ? '' : `${line(path)}: `}${line(message)}`
  })
}

/** A plan that cannot be carried out. */
export function unsound(name: string, faults: readonly PlanFault[]): RetinueError {
  const lines = faultLines(name, faults)
  return new RetinueError('input', `the plan has ${plural(faults.length, 'fault')}\n${lines.join('\n')}`)
}
