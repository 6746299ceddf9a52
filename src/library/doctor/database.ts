import { type Examined, examinePostgres, reasonOf } from '../../store/index.js'
import { type Finding, note, ok, problem } from './findings.js'

/** What the tests are run on, and what DBOS wants. Those before it are not cared for by their makers any more. */
const OLDEST = 14

/** A commit that takes longer is felt: an agent waits for several in each of its turns. */
const SLOW_COMMIT_MS = 50

/** Leases and answers go by the server's clock. The times in the log are the machines' own, and so are the limits by them. */
const CLOCK_MS = 2000

/** What there is to say about the database of a store that opened. */
export async function diagnoseDatabase(url: string, clock: { now(): number }): Promise<Finding[]> {
  const examined = await examinePostgres(url, clock).catch((error: Error) => error)
  if (examined instanceof Error)
    return [problem('database', reasonOf(examined), 'See that it runs and can be reached.')]
  return [version(examined), place(examined), writing(examined), speed(examined), time(examined)]
}

function version({ version, version_number }: Examined): Finding {
  const text = `PostgreSQL ${version}`
  if (version_number >= OLDEST * 10_000) return ok('database', text)
  return problem('database', text, `Retinue needs PostgreSQL ${OLDEST} or later.`)
}

function place({ server, database, schema, schema_version, encrypted }: Examined): Finding {
  const text = `${database} at ${server}, schema ${schema}, version ${schema_version}`
  return encrypted || isThisMachine(server)
    ? ok('tables', text)
    : note(
        'tables',
        `${text}, not encrypted`,
        'Others on the way can read the log: add sslmode=verify-full to the URL.',
      )
}

function writing({ unwritable }: Examined): Finding {
  if (unwritable === null) return ok('writing', 'it takes writes')
  return problem(
    'writing',
    `nothing can be written: ${unwritable}`,
    'Grant the rights, or name the server that takes writes.',
  )
}

function speed({ round_trip_ms, commit_ms, unwritable }: Examined): Finding {
  const text = `${tenths(round_trip_ms)} ms there and back${unwritable === null ? `, ${tenths(commit_ms)} ms for a commit` : ''}`
  if (Math.max(round_trip_ms, commit_ms) < SLOW_COMMIT_MS) return ok('speed', text)
  return note('speed', text, 'Agents wait for commits: have the server nearer, or with faster disks.')
}

function time({ clock_ahead_ms }: Examined): Finding {
  const seconds = tenths(Math.abs(clock_ahead_ms) / 1000)
  if (Math.abs(clock_ahead_ms) < CLOCK_MS) return ok('clock', `within ${tenths(CLOCK_MS / 1000)} s of the server's`)
  const text = `the server's is ${seconds} s ${clock_ahead_ms > 0 ? 'ahead of' : 'behind'} this machine's`
  return note('clock', text, 'Have both set by a time server: times in the log are those of the machine that wrote it.')
}

function isThisMachine(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|\/.*):\d+$/.test(server)
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10)
}
