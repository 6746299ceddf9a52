import { timingSafeEqual } from 'node:crypto'

const BASIC = /^Basic (.+)$/

/** The name of whoever sent the header, by their password; or null. */
export function userOf(authorization, users) {
  const encoded = BASIC.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const [name, password] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 2)
  return same(users[name], password) ? name : null
}

function same(known, given) {
  if (known === undefined || given === undefined) return false
  const [a, b] = [Buffer.from(known), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
