import type { Store } from '../store.js'
import { ServerClock } from './clock.js'
import { type Client, Connections, clientConfig } from './connections.js'
import { codeOf, passes, reasonOf } from './failures.js'
import { forgetWriters, kindOf, migrate, NOW, SCHEMA_VERSION, tablesOf } from './schema.js'
import { readSettings, type Settings } from './settings.js'
import { PostgresStore } from './store.js'

export type PostgresOptions = { url: string; clock: { now(): number } }

type Refused = {
  ok: false
  /** refused: the URL, or what it names, is wrong, or a right is missing. */
  code: 'unreachable' | 'refused' | 'newer_version' | 'unreadable'
  message: string
}

export type OpenedPostgres = { ok: true; store: Store } | Refused

/** A server may be asked to forget what is committed but not on the disk yet; the log may not. */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') = 'off'`

export async function openPostgresStore({ url, clock }: PostgresOptions): Promise<OpenedPostgres> {
  const read = readSettings(url)
  if (!read.ok) return { ok: false, code: 'refused', message: read.message }
  const { settings } = read
  try {
    const { default: pg } = await import('pg')
    const config = clientConfig(settings, pg.types)
    const server = new ServerClock(clock)
    const client = new pg.Client(config)
    // What goes wrong is told by whatever waits for an answer.
    client.on('error', () => {})
    let fault: Refused | null
    try {
      await client.connect()
      fault = await prepare(client, settings, server)
    } finally {
      await client.end().catch(() => {})
    }
    if (fault) return fault
    const onConnect = async (made: { query(text: string): Promise<unknown> }) => {
      await made.query(DURABLE)
    }
    const pool = new pg.Pool({ ...config, max: settings.pool_size, onConnect: onConnect as (client: unknown) => void })
    const connections = new Connections(pool, settings)
    // No limit for the one that listens: it has nothing to wait for but what comes unasked.
    return { ok: true, store: new PostgresStore(connections, () => new pg.Client(config), server) }
  } catch (error) {
    return refusalOf(error, settings)
  }
}

/** Brings the schema up to date, and asks the server for its time; null when all is well. */
async function prepare(client: Client, settings: Settings, server: ServerClock): Promise<Refused | null> {
  const { schema } = settings
  let kind = await kindOf(client, schema)
  if (!kind.foreign && kind.version < SCHEMA_VERSION) kind = await migrate(client, schema)
  if (kind.foreign) return foreign(settings)
  if (kind.version > SCHEMA_VERSION) return newer(settings, kind.version)
  const { rows } = await client.query(`SELECT ${NOW} AS now`)
  server.heard(rows[0].now)
  await forgetWriters(client, tablesOf(schema))
  return null
}

function foreign({ schema, place }: Settings): Refused {
  const message =
    `The schema ${schema} of the database ${place.database} at ${place.server} belongs to another program. ` +
    'Name another one at the end of the URL of the store: ?schema=name.'
  return { ok: false, code: 'unreadable', message }
}

function newer({ schema, place }: Settings, version: number): Refused {
  const message =
    `The database ${place.database} at ${place.server} was written by a newer version of Retinue: its schema ${schema} ` +
    `is version ${version}, and this one knows ${SCHEMA_VERSION}. Update Retinue, or name another schema or database.`
  return { ok: false, code: 'newer_version', message }
}

function refusalOf(error: unknown, settings: Settings): Refused {
  const { server, database, user } = settings.place
  const code = codeOf(error)
  const reason = shown(error, settings)
  const refused = (message: string): Refused => ({ ok: false, code: 'refused', message })
  const unread = unreadable(error)
  if (unread !== null) {
    return refused(
      `The file ${unread} that the URL of the store names cannot be read (${reason}). ` +
        'Correct sslrootcert, sslcert or sslkey in it.',
    )
  }
  if (isOfCertificate(error)) {
    return refused(
      `The certificate of the PostgreSQL server at ${server} is not accepted (${reason}). ` +
        'Name the authority that issued it, with sslrootcert in the URL of the store, and the host that it is for.',
    )
  }
  if (code === '55P03' || code === '57014') {
    const message =
      `The tables in the schema ${settings.schema} of the database ${database} at ${server} are being changed or are in ` +
      `use (${reason}). Try again in a moment.`
    return { ok: false, code: 'unreachable', message }
  }
  if (code === 'ENOTFOUND' || code === 'ENOENT' || (passes(error) && code !== '57P03' && code !== '53300')) {
    const message = `No PostgreSQL server answers at ${server} (${reason}). Start it, or correct the URL of the store.`
    return { ok: false, code: 'unreachable', message }
  }
  if (passes(error)) {
    const message = `The PostgreSQL server at ${server} takes no connections now (${reason}). Try again in a moment.`
    return { ok: false, code: 'unreachable', message }
  }
  if (/client password must be a string/.test(reason)) {
    return refused(
      `The PostgreSQL server at ${server} asks the user ${user || '(none)'} for a password, and none was given. ` +
        'Give it in the URL of the store, as PGPASSWORD, or in ~/.pgpass (mode 0600).',
    )
  }
  if (code?.startsWith('28') || /password must be a (non-empty )?string/.test(reason)) {
    return refused(
      `The PostgreSQL server at ${server} does not let the user ${user || '(none)'} in (${reason}). ` +
        'Correct the user and the password in the URL of the store.',
    )
  }
  if (code === '3D000') {
    return refused(
      `There is no database ${database} at ${server}. Create it (createdb ${database}), or correct the URL of the store.`,
    )
  }
  if (code === '42501' && /must be owner/.test(reason)) {
    return refused(
      `The tables in the schema ${settings.schema} of the database ${database} at ${server} are of an older version, and ` +
        `the user ${user} may not change them (${reason}). Let their owner open them once with this version: retinue doctor.`,
    )
  }
  if (code === '42501' && !/for database/.test(reason)) {
    return refused(
      `The user ${user} may not use the schema ${settings.schema} in the database ${database} at ${server} ` +
        `(${reason}). Let its owner grant the rights: GRANT USAGE ON SCHEMA ${settings.schema} TO ${user}; ` +
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${settings.schema} TO ${user}.`,
    )
  }
  if (code === '42501') {
    return refused(
      `The user ${user} may not set up the schema ${settings.schema} in the database ${database} at ${server} ` +
        `(${reason}). Let its owner do that once, or grant the right: ` +
        `GRANT CREATE ON DATABASE ${database} TO ${user}.`,
    )
  }
  if (code === '25006') {
    return refused(
      `The database ${database} at ${server} takes no writes (${reason}): it is a standby, or was made read-only. ` +
        'Name the server that does in the URL of the store.',
    )
  }
  const message =
    `The database ${database} at ${server} cannot be opened as a store of Retinue: ${reason}. ` +
    'Check the URL of the store and the settings of the server.'
  return { ok: false, code: 'unreadable', message }
}

/** The file of a certificate or key that is not there or may not be read. A socket that is not there has no such call. */
function unreadable(error: unknown): string | null {
  const { syscall, path } = error as NodeJS.ErrnoException
  return error instanceof Error && syscall === 'open' && path !== undefined ? path : null
}

/** What Node's TLS says of a certificate, each with a code of its own. */
function isOfCertificate(error: unknown): boolean {
  return /CERT|UNABLE_TO_(GET_ISSUER|VERIFY)|ALTNAME/.test(codeOf(error) ?? '')
}

/** Never with the password, whatever the error says. */
function shown(error: unknown, { password }: Settings): string {
  const text = reasonOf(error)
  if (password === '') return text
  return text.replaceAll(password, '***').replaceAll(encodeURIComponent(password), '***')
}
