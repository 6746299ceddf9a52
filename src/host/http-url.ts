import type { Fault, HttpFault } from './host.js'
import { fault } from './paths.js'

const MAX_URL = 8192

/** An address that is asked for: the URL, and the name or number of the host as it is compared and connected to. */
export type Target = { url: URL; host: string; port: number; secure: boolean }

export type TargetResult = { ok: true; target: Target } | Fault<HttpFault>

/** The platform's own URL parser decides what a text means: numbers in any spelling come out as plain addresses. */
export function readTarget(text: string, base?: string): TargetResult {
  if (text.length > MAX_URL) return fault('bad_url', `the address is longer than ${MAX_URL} characters`)
  if (!URL.canParse(text, base)) return fault('bad_url', `${shown(text)} is no address: write https://host/path`)
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return fault('bad_url', `${shown(text)}: only http and https are fetched, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    return fault('bad_url', 'an address with a user name or password in it is not fetched: leave them out')
  }
  const host = hostOf(url)
  if (host === '' || host.endsWith('.')) return fault('bad_url', `${shown(text)} names no host`)
  url.hash = ''
  const secure = url.protocol === 'https:'
  return { ok: true, target: { url, host, port: Number(url.port || (secure ? 443 : 80)), secure } }
}

/** In lower case, without the brackets of IPv6 and without the dot that ends a full name. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** Whether a host is in a list of `name` and `name:port`. */
export function isListed(target: Target, list: readonly string[]): boolean {
  return list.some((entry) => {
    const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? []
    // More than one colon and no brackets: an IPv6 address by itself.
    const name = bracketed ?? plain ?? entry
    const text = `http://${name.includes(':') ? `[${name}]` : name}/`
    if (!URL.canParse(text)) return false
    return hostOf(new URL(text)) === target.host && (port === undefined || Number(port) === target.port)
  })
}

/**
 * The same host, port and path, which is what rules are about. From http to https counts as the same, the other way does
 * not; a slash at the end of the path makes no difference.
 */
export function isSamePlace(from: Target, to: Target): boolean {
  if (from.host !== to.host || pathOf(from) !== pathOf(to)) return false
  if (from.secure === to.secure) return from.port === to.port
  return to.secure && from.port === 80 && to.port === 443
}

function pathOf({ url }: Target): string {
  return url.pathname.replace(/\/$/, '')
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
