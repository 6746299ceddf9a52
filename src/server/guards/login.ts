import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Principal } from '../../index.js'
import type { Names } from '../names.js'
import { Refusal } from '../refusal.js'
import type { LoggedIn } from '../wire.js'
import type { Limits } from './limits.js'

/** Whoever has a token is this principal. */
export type Holder = { token_sha256: string; principal: Principal }

/** A login is forgotten when nothing was asked with it for so long. */
const IDLE_MS = 12 * 60 * 60 * 1000
/** So many are remembered; the one that was used longest ago is forgotten first. */
const MOST_LOGINS = 1_000

type Login = { principal: Principal; key_sha256: string; used_at: number }

/**
 * Who asks. A token is shown with each request by programs, and once by browsers: these get a cookie for it, which no
 * script can read. Logins are in memory alone, so that they end with the server.
 */
export class Logins {
  /** By the digest of the cookie's value, so that looking one up tells nothing about others. */
  readonly #logins = new Map<string, Login>()

  constructor(
    private readonly holders: readonly Holder[],
    private readonly parts: { port: number; names: Names; limits: Limits; now: () => number },
  ) {}

  /** Who asks, where that is known; nothing is made of a token that is none. */
  known(c: Context): Principal | null {
    const token = bearerToken(c)
    return token === null ? (this.#loginOf(c)?.principal ?? null) : this.#find(token)
  }

  /** Who asks, or a refusal: also where something would be changed and the cookie is all that they show. */
  asker(c: Context): Principal {
    const principal = this.principal(c)
    if (bearerToken(c) === null && !isReading(c)) checkKey(c, this.#loginOf(c))
    return principal
  }

  /** Who asks, or a refusal. */
  principal(c: Context): Principal {
    const token = bearerToken(c)
    if (token !== null) return this.#holderOf(c, token)
    const login = this.#loginOf(c)
    if (login) return login.principal
    throw new Refusal(
      401,
      'not_known',
      'Nobody knows who asks. Open the address that retinue serve printed, all of it: the key is behind the #.',
    )
  }

  /**
   * Browsers send the cookie to every server of the same host, whatever its port, and such a server could send it here.
   * It does not get to see the key, which the page keeps and shows when something is to be changed.
   */
  enter(c: Context, token: string): LoggedIn {
    const principal = this.#holderOf(c, token)
    const id = newToken()
    const key = newToken()
    this.#logins.set(digestOf(id), { principal, key_sha256: digestOf(key), used_at: this.parts.now() })
    const [oldest] = this.#logins.keys()
    if (this.#logins.size > MOST_LOGINS && oldest !== undefined) this.#logins.delete(oldest)
    setCookie(c, this.#cookie, id, { httpOnly: true, sameSite: 'Strict', path: '/', secure: this.#isSecure(c) })
    return { principal, key }
  }

  leave(c: Context): void {
    const login = this.#loginOf(c)
    if (login) checkKey(c, login)
    this.#logins.delete(digestOf(getCookie(c, this.#cookie) ?? ''))
    deleteCookie(c, this.#cookie, { path: '/', secure: this.#isSecure(c) })
  }

  /** Cookies do not know ports, and there may be other servers on this machine. */
  get #cookie(): string {
    return `retinue_${this.parts.port}`
  }

  #isSecure(c: Context): boolean {
    return this.parts.names.secure.has(c.req.header('host')?.toLowerCase() ?? '')
  }

  #loginOf(c: Context): Login | null {
    const id = getCookie(c, this.#cookie)
    if (id === undefined) return null
    const key = digestOf(id)
    const login = this.#logins.get(key)
    if (!login) return null
    this.#logins.delete(key)
    const now = this.parts.now()
    if (now - login.used_at > IDLE_MS) return null
    login.used_at = now
    this.#logins.set(key, login)
    return login
  }

  #holderOf(c: Context, token: string): Principal {
    const found = this.#find(token)
    if (found) return found
    this.parts.limits.failedLogin(c)
    throw new Refusal(401, 'not_known', 'That token is none of this server. Each start of retinue serve has a new one.')
  }

  #find(token: string): Principal | null {
    const digest = createHash('sha256').update(token).digest()
    let found: Principal | null = null
    // All of them, so that the time it takes tells nothing.
    for (const { token_sha256, principal } of this.holders) {
      if (timingSafeEqual(digest, Buffer.from(token_sha256, 'hex'))) found = principal
    }
    return found
  }
}

function checkKey(c: Context, login: Login | null): void {
  if (login?.key_sha256 === digestOf(c.req.header('x-retinue-key') ?? '')) return
  throw new Refusal(
    403,
    'no_key',
    'The key of this login is missing, without which nothing is changed: open the address that retinue serve printed again, all of it.',
  )
}

/** 256 bits that nobody can guess, as text for addresses and headers. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** By which a token is known without being written down. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** What a program shows with a request; null: it shows nothing of that kind. */
export function bearerToken(c: Context): string | null {
  return /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? null
}

export function isReading(c: Context): boolean {
  return c.req.method === 'GET' || c.req.method === 'HEAD'
}
