import type { Usage } from '../../domain/index.js'
import { configuredPrice, type PriceSettings } from './configured.js'
import { tablePrice } from './table.js'

/** What a model's usage costs at a time, in dollars. */
export type Price = (usage: Usage, at: number) => number

export type Priced = {
  /** Without the version a server may answer with: what was asked for is what is paid for. */
  model: string
  base_url: string
  prices: Record<string, PriceSettings>
}

/** The price of a model, looked up when it is first wanted. Null: nobody knows. */
export function createPricing({ model, base_url, prices }: Priced): () => Price | null {
  let found: Price | null | undefined
  return () => {
    if (found === undefined) found = configuredPrice(prices, model) ?? tablePrice(base_url, model)
    return found
  }
}
