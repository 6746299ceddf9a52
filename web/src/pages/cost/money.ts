import { costInWords, plural } from '#domain'
import type { Spent } from './costs'

/** What is known of the cost, and what is missing from it. Where no price is known, there is no number at all. */
export function moneyOf({ known_usd, calls, unpriced_calls }: Spent): { text: string; missing: string | null } {
  if (calls === 0) return { text: '–', missing: null }
  if (unpriced_calls === 0) return { text: costInWords(known_usd), missing: null }
  const missing = `the price of ${plural(unpriced_calls, 'call')} is not known`
  if (known_usd === 0) return { text: 'unknown', missing }
  return { text: `${costInWords(known_usd)} and more`, missing }
}
