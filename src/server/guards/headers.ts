import type { MiddlewareHandler } from 'hono'

/** What a page of ours may load and do: files of this server, and nothing that is written into a page. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The editor adds its style as it starts, and names this.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // Text can become markup in no way at all, not even by mistake.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), ' +
    'midi=(), payment=(), usb=()',
}

export type NonceVariable = { Variables: { nonce: string } }

/** On every answer, refusals too. `nonce`: another one for each. */
export function headersGuard(nonce: () => string): MiddlewareHandler<NonceVariable> {
  return async (c, next) => {
    const one = nonce()
    c.set('nonce', one)
    await next()
    const { headers } = c.res
    headers.set('content-security-policy', policy(one))
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value)
  }
}
