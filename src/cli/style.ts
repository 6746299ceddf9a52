export {
  ageInWords as age,
  costInWords as cost,
  countInWords as count,
  plural,
  printable,
  printableLine as line,
  timeInWords as duration,
} from '../index.js'

/** Colours where they are wanted: on a terminal, unless NO_COLOR; anywhere, with FORCE_COLOR. */
export type Paint = { dim: Colour; bold: Colour; red: Colour; green: Colour; yellow: Colour; cyan: Colour }
type Colour = (text: string) => string

export function paintFor(stream: { isTTY?: boolean }, env: Record<string, string | undefined>): Paint {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  const on = forced || (stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb')
  const colour = (open: number, close: number): Colour => {
    return on ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text
  }
  return {
    dim: colour(2, 22),
    bold: colour(1, 22),
    red: colour(31, 39),
    green: colour(32, 39),
    yellow: colour(33, 39),
    cyan: colour(36, 39),
  }
}

/** No colours: for what is painted by somebody else, or not at all, as the texts of commands are. */
export const PLAIN: Paint = paintFor({}, {})

/** Why something was cancelled, for whoever did it: at a terminal the caller is the person in front of it. */
export function byYou(reason: string): string {
  return reason.replace(/^(cancelled|cancel requested) by caller: /, '$1 by you: ')
}
