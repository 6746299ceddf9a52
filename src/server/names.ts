import { hostname, networkInterfaces } from 'node:os'

/** The names by which a server is reached: what `Host` and `Origin` may say. */
export type Names = {
  /** Such as 127.0.0.1:4774, in lower case. */
  hosts: ReadonlySet<string>
  /** Such as http://127.0.0.1:4774. */
  origins: ReadonlySet<string>
  /** Of these hosts, those that a proxy serves with https. */
  secure: ReadonlySet<string>
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/** `hosts`: by which it is reached. `origins`: as the configuration names them, those of a proxy in front of it. */
export function ownNames(
  { hosts, port }: { hosts: readonly string[]; port: number },
  origins: readonly string[],
): Names {
  const own = [...LOOPBACK, ...hosts.map(inUrl)].map((name) => new URL(`http://${name}:${port}`))
  const configured = origins.map((origin) => new URL(origin))
  const all = [...own, ...configured]
  return {
    // A browser leaves out the port that is usual, and so does URL.
    hosts: new Set(all.map((url) => url.host)),
    origins: new Set(all.map((url) => url.origin)),
    secure: new Set(configured.filter((url) => url.protocol === 'https:').map((url) => url.host)),
  }
}

/**
 * The names by which others reach what listens on an address. Where that stands for all of this machine's, these are
 * the ones it has now, and its own name.
 */
export function reachedBy(host: string, bound: string): string[] {
  if (bound !== '0.0.0.0' && bound !== '::') return [host]
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const addresses = all
    .filter(({ family }) => family === 'IPv4' || bound === '::')
    // Those of one cable alone need its name beside them, which no address in a browser has.
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address)
  const name = hostname()
  const names = URL.canParse(`http://${name}`) ? [name] : []
  return addresses.length === 0 ? ['127.0.0.1', ...names] : [...addresses, ...names]
}

/** An address as it stands in a URL. */
export function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Whether only this machine can reach it. A name that is looked up could be anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
