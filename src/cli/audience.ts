import type { DriveOptions } from './drive.js'

export function isQuiet(options: DriveOptions): boolean {
  return options.print === true || options.outputFormat !== 'text'
}

/** Whether somebody sits at this terminal who can be asked. */
export function canAsk(options: DriveOptions): boolean {
  return !isQuiet(options) && process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Whether what a run asks is put to somebody: here, or wherever they answer when it is given away. */
export function isAsked(options: DriveOptions): boolean {
  return options.detach ? options.print !== true : canAsk(options)
}
