import { z } from 'zod'

/** Permission modes, narrowest first: the order is the meaning. */
export const MODES = ['plan', 'normal', 'auto', 'dangerous'] as const

export const modeSchema = z.enum(MODES)
export type Mode = z.infer<typeof modeSchema>

export function narrowerMode(a: Mode, b: Mode): Mode {
  return MODES.indexOf(a) <= MODES.indexOf(b) ? a : b
}

export function widerMode(a: Mode, b: Mode): Mode {
  return narrowerMode(a, b) === a ? b : a
}
