/**
 * `unknown`: there is no such run or agent. `not_closed`: it is at work, or can go on. `nothing`: there is nothing that
 * could be done. `in_the_way`: files of the person are. `failed`: git, or the disk.
 */
export type KeptFault = 'unknown' | 'not_closed' | 'nothing' | 'in_the_way' | 'failed'
export type KeptResult<T> = ({ ok: true } & T) | { ok: false; code: KeptFault; message: string }

export function fault(code: KeptFault, message: string): { ok: false; code: KeptFault; message: string } {
  return { ok: false, code, message }
}
