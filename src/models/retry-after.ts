import { retryDelayOf, type Said } from './provider-error.js'

/** How long the provider wants us to wait, from wherever it says so; null when it does not. */
export function retryAfter(headers: Record<string, string>, said: Said): number | null {
  const asked =
    whole(headers['retry-after-ms'], 1) ??
    whole(headers['retry-after'], 1000) ??
    untilDate(headers['retry-after'], headers.date) ??
    duration(retryDelayOf(said)) ??
    duration(/try again in ((?:[\d.]+(?:ms|s|m|h))+)/i.exec(said.text)?.[1])
  return asked === null ? null : Math.min(asked, LONGEST_MS)
}

/** Whatever a server says, nobody waits longer than a day. */
const LONGEST_MS = 24 * 3_600_000

function whole(value: string | undefined, unit: number): number | null {
  if (value === undefined || value.trim() === '') return null
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? Math.ceil(number * unit) : null
}

/** Counted from the server's own clock where it tells it: ours may be off by more than the wait. */
function untilDate(value: string | undefined, now: string | undefined): number | null {
  if (value === undefined) return null
  const until = Date.parse(value)
  if (Number.isNaN(until)) return null
  const from = now === undefined ? Number.NaN : Date.parse(now)
  return Math.max(0, until - (Number.isNaN(from) ? Date.now() : from))
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

function duration(value: string | null | undefined): number | null {
  if (!value) return null
  let total = 0
  for (const [, amount, unit] of value.matchAll(/([\d.]+)(ms|s|m|h)/g))
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  return total > 0 ? Math.ceil(total) : null
}
