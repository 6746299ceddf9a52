import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { type Principal, type Retinue, RetinueError } from '../index.js'
import { createApp } from './app.js'
import { Limits } from './guards/limits.js'
import { digestOf, type Holder, Logins, newToken } from './guards/login.js'
import { createLive, type Live } from './live/live.js'
import { inUrl, isLoopback, ownNames, reachedBy } from './names.js'
import { OwnRuns } from './own-runs.js'
import { ROUTES } from './routes/index.js'
import { Web } from './static.js'

/**
 * How long clients get for what they send. What is sent to them may take as long as it likes: streams of events live for
 * hours.
 */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}

export type ServeOptions = {
  /** Default: 127.0.0.1. Another one needs users. */
  host?: string
  /** Default: 0, any that is free. */
  port?: number
  /** Where the port is taken, any that is free. Default: that is an error. */
  or_free?: boolean
  /** Names and the SHA-256 digests (hex) of their tokens; what they may do is what `principals` says. None: one token. */
  users?: Record<string, { token_sha256: string }>
  /** Origins by which it is reached besides its own address: those of a proxy in front of it. Default: none. */
  origins?: string[]
  /** What went wrong in the server and nobody expected. Default: to stderr. */
  report?: (text: string) => void
  /** Instead of the usual ones. */
  times?: Partial<typeof TIMES>
}

export type Serving = {
  /** With the token in its fragment, where there is one. */
  url: string
  /** The same without it. */
  address: string
  /** All of these, where it listens on every address of this machine. */
  addresses: string[]
  port: number
  token: string | null
  /** Only this machine can reach it. */
  local: boolean
  /** Ends every connection and lets go of the runs that it works on; resolves with their ids. */
  close(reason: string): Promise<string[]>
}

/** Serves one Retinue over HTTP until it is closed. Refuses with a `RetinueError` what would not be safe. */
export async function serve(retinue: Retinue, options: ServeOptions = {}): Promise<Serving> {
  const { users = {}, origins = [] } = options
  const host = options.host === undefined || options.host === 'localhost' ? '127.0.0.1' : options.host
  if (!URL.canParse(`http://${inUrl(host)}`)) {
    throw new RetinueError('config', `"${host}" is no address to listen on: write one as in 127.0.0.1 or ::1.`)
  }
  if (!isLoopback(host) && Object.keys(users).length === 0) {
    throw new RetinueError(
      'config',
      `Others could reach ${host}, and nobody is configured who may: name users under server.users in your own ` +
        'configuration (retinue serve --new-token <name> makes a token), or serve on 127.0.0.1.',
    )
  }
  const token = Object.keys(users).length === 0 ? newToken() : null
  // Refused where the store of the folder is a stranger's: nothing that the window shows could be believed.
  await retinue.choices()
  const { principal } = retinue.control()
  const holders = token === null ? usersOf(retinue, users, principal.id) : [holderOf(token, principal)]
  const server = await listening(options, host)
  const { port, address: bound } = server.address() as AddressInfo
  const now = Date.now
  const limits = new Limits(now)
  const hosts = reachedBy(host, bound)
  const names = ownNames({ hosts, port }, origins)
  const own = new OwnRuns(retinue)
  const live = createLive(retinue, own)
  const app = createApp({
    context: { retinue, own, live, now },
    routes: ROUTES,
    ...{ names, limits, logins: new Logins(holders, { port, names, limits, now }), web: new Web() },
    report: options.report ?? ((text) => process.stderr.write(`retinue: ${text}\n`)),
  })
  server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  let closing: Promise<string[]> | null = null
  const addresses = hosts.map((name) => `http://${inUrl(name)}:${port}`)
  const [address] = addresses as [string]
  return {
    ...{ address, addresses, port, token, local: isLoopback(host) },
    ...{ url: token === null ? `${address}/` : `${address}/#token=${token}` },
    close: (reason) => {
      closing ??= closed(server, { live, own }, reason)
      return closing
    },
  }
}

async function closed(server: Server, { live, own }: { live: Live; own: OwnRuns }, reason: string): Promise<string[]> {
  const ended = once(server, 'close')
  server.close()
  live.close()
  const left = await own.leave(reason)
  server.closeAllConnections()
  await ended
  return left
}

function holderOf(token: string, principal: Principal): Holder {
  return { token_sha256: digestOf(token), principal }
}

/** Who they are is asked once: the configuration of a server does not change while it serves. Every fault is told. */
function usersOf(retinue: Retinue, users: NonNullable<ServeOptions['users']>, local: string): Holder[] {
  const faults: string[] = []
  const by_digest = new Map<string, string>()
  const holders = Object.entries(users).flatMap(([name, { token_sha256 }]): Holder[] => {
    if (!/^[0-9a-f]{64}$/.test(token_sha256)) {
      faults.push(`token_sha256 of the user ${name} is no SHA-256 digest: 64 of 0-9 and a-f.`)
    }
    const other = by_digest.get(token_sha256)
    if (other !== undefined) {
      faults.push(`${other} and ${name} have the same token_sha256, so that nobody could tell who of them it is.`)
    }
    by_digest.set(token_sha256, name)
    if (name === local) {
      faults.push(
        `The user ${name} has the name of the person at this machine, who has all rights without a token: choose another ` +
          'name under server.users and principals, for yourself too.',
      )
      return []
    }
    try {
      return [{ token_sha256, principal: retinue.control(name).principal }]
    } catch (error) {
      if (!(error instanceof RetinueError)) throw error
      faults.push(`The user ${name} of the server cannot be let in. ${error.message}`)
      return []
    }
  })
  if (faults.length > 0) throw new RetinueError('config', faults.join('\n'))
  return holders
}

async function listening(options: ServeOptions, host: string): Promise<Server> {
  const { port = 0 } = options
  const server = createServer({ ...TIMES, ...options.times, maxHeaderSize: 16 * 1024 })
  server.maxHeadersCount = 100
  try {
    await listen(server, port, host)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' && options.or_free) return listening({ ...options, port: 0, or_free: false }, host)
    throw new RetinueError('config', whyNot(code, port, host) ?? `It cannot serve on ${host}: ${message}`)
  }
  return server
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host })
  await once(server, 'listening')
}

function whyNot(code: string | undefined, port: number, host: string): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is taken: choose another with --port, or --port 0 for any that is free.`
    case 'EACCES':
      return `Port ${port} is not for ordinary users: choose one over 1023 with --port.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine: choose another with --host.`
    default:
      return null
  }
}

/** A token, and the digest by which the configuration knows it. */
export function createToken(): { token: string; token_sha256: string } {
  const token = newToken()
  return { token, token_sha256: digestOf(token) }
}
