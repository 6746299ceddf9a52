import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, MiddlewareHandler } from 'hono'
import type { Principal } from '../../index.js'
import { Refusal } from '../refusal.js'
import { Buckets } from './buckets.js'

const MAX_BODY_BYTES = 1024 * 1024

/** A page asks for fifty things at once, and people have several of them open. */
const REQUESTS = { size: 1_000, per_second: 200 }
/** Tokens are long: nobody who has one gets it wrong often. */
const FAILED_LOGINS = { size: 10, per_second: 1 / 6 }

export class Limits {
  readonly #requests: Buckets
  readonly #failures: Buckets

  constructor(now: () => number) {
    this.#requests = new Buckets(REQUESTS.size, REQUESTS.per_second, now)
    this.#failures = new Buckets(FAILED_LOGINS.size, FAILED_LOGINS.per_second, now)
  }

  /** Whoever is known is counted by name, so that nobody else at their address (or behind their proxy) uses that up. */
  guard(known: (c: Context) => Principal | null): MiddlewareHandler {
    return async (c, next) => {
      const principal = known(c)
      const taken = this.#requests.take(principal ? `${addressOf(c)} ${principal.id}` : addressOf(c))
      if (!taken.ok) throw tooMany('Too many requests.', taken.retry_after_s)
      await next()
    }
  }

  /**
   * Somebody showed a token that is none. By address, for nobody is known here: behind a proxy all share one, and who
   * mistypes there may have to wait for who tries. Whoever has a token is never made to wait for that.
   */
  failedLogin(c: Context): void {
    const taken = this.#failures.take(addressOf(c))
    if (!taken.ok) throw tooMany('Too many tokens that are none.', taken.retry_after_s)
  }
}

function tooMany(what: string, seconds: number): Refusal {
  const message = `${what} Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  return new Refusal(429, 'too_many', message, { headers: { 'retry-after': String(seconds) } })
}

export function addressOf(c: Context): string {
  return getConnInfo(c).remote.address ?? ''
}

/** The body as text. It is counted as it is read: what a client says about its length need not be true. */
export async function readBody(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const reader = request.body?.getReader()
  if (!reader) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.byteLength
    if (bytes > MAX_BODY_BYTES) {
      void reader.cancel().catch(() => {})
      throw tooLarge()
    }
    chunks.push(value)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

function tooLarge(): Refusal {
  return new Refusal(413, 'too_large', `What is sent must be at most ${MAX_BODY_BYTES} bytes`, {
    headers: { connection: 'close' },
  })
}
