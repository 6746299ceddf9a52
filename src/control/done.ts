/** Why something in the control plane was not done. */
export type ControlRefusal = {
  ok: false
  code: 'denied' | 'input' | 'not_found' | 'conflict' | 'corrupt' | 'store'
  message: string
}

/** What came of something in the control plane. `said`: a line for whoever asked, and for the control log. */
export type ControlDone<T> = { ok: true; value: T; said: string } | ControlRefusal

export function done<T>(value: T, said: string): ControlDone<T> {
  return { ok: true, value, said }
}

export function refused(code: ControlRefusal['code'], message: string): ControlRefusal {
  return { ok: false, code, message }
}
