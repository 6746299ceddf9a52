import type { Retinue } from '../../index.js'

/** Streams of what happens, for any number of watchers: one follower a run, one look at the list of runs for all. */
export interface Live {
  /** The events of a run after a position, as server-sent events. */
  run(run_id: string, after: number, signal: AbortSignal): Promise<Response>
  /** The list of runs as it changes. */
  runs(signal: AbortSignal): Promise<Response>
  /** Of now, for the metrics. */
  readonly connections: number
  close(): void
}

export function createLive(retinue: Retinue): Live {
  throw new Error(`not written yet: ${retinue.cwd}`)
}
