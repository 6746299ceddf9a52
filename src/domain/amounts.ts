/** Dollars are shown to this many parts. */
const PARTS = 10_000

/** Of what is there the rest is cut, of what is needed it is filled up: rounding makes nothing look like enough. */
export function usdText(amount: number, round: 'down' | 'up' = 'down'): string {
  if (amount === Number.POSITIVE_INFINITY) return NO_LIMIT
  if (amount <= 0) return '0'
  if (amount * PARTS < 1 && round === 'down') return 'less than 0.0001'
  // Without the last digits, which are only how floats are added up.
  const parts = Number((amount * PARTS).toPrecision(12))
  return String((round === 'up' ? Math.ceil(parts) : Math.floor(parts)) / PARTS)
}

/** 1234567 as 1,234,567. */
export function countText(amount: number, round: 'down' | 'up' = 'down'): string {
  return String(Math.max(0, round === 'up' ? Math.ceil(amount) : Math.floor(amount))).replace(/\B(?=(\d{3})+$)/g, ',')
}

export const NO_LIMIT = 'no limit'

/** Money of models. What nobody knows is said to be unknown, never zero. */
export function costInWords(usd: number | null): string {
  if (usd === null) return 'cost unknown'
  if (usd > 0 && usd < 0.0001) return 'less than $0.0001'
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : usd.toPrecision(2)}`
}

export function timeInWords(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  const seconds = Math.round(ms / 100) / 10
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(ms / 1000)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

export function plural(value: number, noun: string, nouns = `${noun}s`): string {
  return `${countInWords(value)} ${value === 1 ? noun : nouns}`
}

/** Not by `toLocaleString`: the tables of all languages take 10 ms to load. */
export function countInWords(value: number): string {
  return countText(value)
}

export function ageInWords(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`
}
