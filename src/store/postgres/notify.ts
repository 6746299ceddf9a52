import { bound, type Query } from './connections.js'

/** What a notification says when it is about more runs than it has room for. */
const ALL_RUNS = '*'

/** PostgreSQL takes no more than 8000 bytes. */
const LONGEST = 7000

const NOTIFY = {
  name: 'notify',
  // Durable is what it tells of. Were it to wait for the disk, all who notify would wait for one another: a transaction
  // that notifies holds a lock of the whole server while it commits.
  text: "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
}

/** Tells everybody who follows these runs, in whatever process, and by whom. undefined: there is nothing to tell. */
export function notification(channel: string, sender: string, run_ids: readonly string[]): Query | undefined {
  if (run_ids.length === 0) return undefined
  const runs = run_ids.join('\n')
  return bound(NOTIFY, channel, `${sender}\n${Buffer.byteLength(runs) > LONGEST ? ALL_RUNS : runs}`)
}

/** `run_ids` null: all. */
export function notified(payload: string): { sender: string | undefined; run_ids: string[] | null } {
  const [sender, ...run_ids] = payload.split('\n')
  return { sender, run_ids: run_ids[0] === ALL_RUNS ? null : run_ids }
}

export function channelOf(schema: string): string {
  return `retinue_runs_${schema}`
}
