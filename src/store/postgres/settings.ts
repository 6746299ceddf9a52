/** What the URL of a store says. Only `connection` has the password. */
export type Settings = {
  connection: string
  schema: string
  pool_size: number
  connect_timeout_ms: number
  patience_ms: number
  /** The place as it may be shown. */
  place: { server: string; database: string; user: string }
  password: string
}

export type ReadSettings = { ok: true; settings: Settings } | { ok: false; message: string }

const OWN = ['schema', 'pool_size', 'connect_timeout', 'patience']

/** What pg itself reads in a URL. Anything else would be ignored without a word. */
const PG = [
  ...['host', 'port', 'user', 'password', 'application_name', 'options', 'client_encoding'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
]

/** What pg makes something of; with any other it would ask for TLS without saying why. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** Short enough for what is made of it to stay below the 63 bytes that PostgreSQL keeps of a name. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,39}$/

export function readSettings(text: string, env: NodeJS.ProcessEnv = process.env): ReadSettings {
  const url = urlOf(text)
  if (!url) return refused('The URL of the store cannot be read. It has the form postgres://user@host:5432/database.')
  const given = url.searchParams
  for (const name of new Set(given.keys())) {
    if (given.getAll(name).length > 1) return refused(`The URL of the store says "${name}" twice. Say it once.`)
    if (OWN.includes(name) || PG.includes(name)) continue
    return refused(`The URL of the store says "${name}", which is not known. Known are ${[...OWN, ...PG].join(', ')}.`)
  }
  const schema = given.get('schema') ?? 'retinue'
  if (!SCHEMA.test(schema) || schema.startsWith('pg_')) {
    return refused(
      `The schema "${schema}" in the URL of the store is no plain name: small letters, digits and _, at most 40, not beginning with a digit or pg_.`,
    )
  }
  const pool_size = whole(given.get('pool_size') ?? '4', 2, 1000)
  if (pool_size === null) return refused('pool_size in the URL of the store must be a whole number from 2 to 1000.')
  const connect = whole(given.get('connect_timeout') ?? '10', 1, 3600)
  if (connect === null) return refused('connect_timeout in the URL of the store must be whole seconds from 1 to 3600.')
  const patience = whole(given.get('patience') ?? '90', 0, 86_400)
  if (patience === null) return refused('patience in the URL of the store must be whole seconds from 0 to 86400.')
  const sslmode = given.get('sslmode')
  if (sslmode !== null && !SSL_MODES.includes(sslmode)) {
    return refused(`sslmode in the URL of the store is one of ${SSL_MODES.join(', ')}, and not "${sslmode}".`)
  }
  const port = given.get('port') ?? (url.port || env.PGPORT || '5432')
  if (whole(port, 1, 65_535) === null) {
    return refused(`"${port}", in the URL of the store or in PGPORT, is no port: that is a number from 1 to 65535.`)
  }
  complete(url, env)
  const place = placeOf(url)
  const password = given.get('password') ?? decoded(url.password)
  for (const name of OWN) given.delete(name)
  const times = { connect_timeout_ms: connect * 1000, patience_ms: patience * 1000 }
  return { ok: true, settings: { connection: url.href, schema, pool_size, ...times, place, password } }
}

function urlOf(text: string): URL | null {
  try {
    const url = new URL(text)
    return /^postgres(ql)?:$/.test(url.protocol) ? url : null
  } catch {
    return null
  }
}

/**
 * Says in the URL what is left out of it. pg would find that by itself, but DBOS wants it in the URL, and whoever reads a
 * message wants to know which server it is about.
 */
function complete(url: URL, { PGHOST, PGPORT, PGUSER, PGDATABASE, USER }: NodeJS.ProcessEnv): void {
  const given = url.searchParams
  if (!url.hostname && !given.has('host') && PGHOST?.startsWith('/')) given.set('host', PGHOST)
  // A URL has no user and no port without a host. Where it names a socket, that stands before this one.
  if (!url.hostname) url.hostname = hostIn(given.has('host') ? '' : PGHOST)
  if (!url.port && !given.has('port') && PGPORT) url.port = PGPORT
  if (!url.username) url.username = encodeURIComponent(given.get('user') ?? PGUSER ?? USER ?? '')
  const database = PGDATABASE ?? given.get('user') ?? decoded(url.username)
  if (url.pathname.length < 2) url.pathname = `/${encodeURIComponent(database)}`
}

function hostIn(named: string | undefined): string {
  if (!named) return 'localhost'
  return named.includes(':') ? `[${named}]` : named
}

function placeOf(url: URL): Settings['place'] {
  const host = url.searchParams.get('host') ?? decoded(url.hostname)
  const port = url.searchParams.get('port') ?? url.port
  const user = url.searchParams.get('user') ?? decoded(url.username)
  return { server: `${host}:${port || '5432'}`, database: decoded(url.pathname.slice(1)), user }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function whole(text: string, least: number, most: number): number | null {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : null
}

function refused(message: string): ReadSettings {
  return { ok: false, message }
}
