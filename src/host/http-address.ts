import { isIP } from 'node:net'
import type * as Addresses from 'ipaddr.js'

/** Answers why an address must not be connected to; null where it is one of the public internet. */
export type AddressCheck = (address: string) => Promise<string | null>

/** Machines of a cloud ask it for keys, and it looks like any public address. */
const METADATA = new Set(['168.63.129.16'])

/** Addresses of the public internet are all in here, apart from those that carry an IPv4 address inside. */
const GLOBAL_UNICAST: [prefix: string, bits: number] = ['2000::', 3]

export const refuseNotPublic: AddressCheck = async (address) => {
  const { default: ipaddr } = await import('ipaddr.js')
  // The zone of a link-local address.
  const [bare = ''] = address.split('%')
  const version = isIP(bare)
  if (version === 0) return 'is no address'
  // In hexadecimal: with an IPv4 address at its end, the library would take one form for another.
  const parsed = ipaddr.parse(version === 4 ? bare : new URL(`http://[${bare}]/`).hostname.slice(1, -1))
  const kind = parsed.kind() === 'ipv4' ? kindOf4(parsed as Addresses.IPv4) : kindOf6(ipaddr, parsed as Addresses.IPv6)
  return kind === null ? null : `is ${kind}`
}

function kindOf4(address: Addresses.IPv4): string | null {
  if (METADATA.has(address.toString())) return 'a cloud metadata address'
  const range = address.range()
  return range === 'unicast' ? null : inWords(range)
}

/** What carries an IPv4 address inside leads to that one; the old ways of tunnelling lead nowhere good. */
function kindOf6(ipaddr: typeof Addresses, address: Addresses.IPv6): string | null {
  const range = address.range()
  if (range === 'ipv4Mapped') return kindOf4(address.toIPv4Address())
  if (range === 'rfc6052' && address.match(ipaddr.IPv6.parse('64:ff9b::'), 96))
    return kindOf4(lastFourBytes(ipaddr, address))
  if (range !== 'unicast') return inWords(range)
  const [prefix, bits] = GLOBAL_UNICAST
  return address.match(ipaddr.IPv6.parse(prefix), bits) ? null : 'a reserved address'
}

function lastFourBytes(ipaddr: typeof Addresses, address: Addresses.IPv6): Addresses.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

const WORDS: Record<string, string> = {
  loopback: 'an address of this machine',
  unspecified: 'an address of this machine',
  private: 'a private address',
  uniqueLocal: 'a private address',
  carrierGradeNat: 'a private address',
  linkLocal: 'a link-local address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
}

function inWords(range: string): string {
  return WORDS[range] ?? 'a reserved address'
}
