import { z } from 'zod'
import type { Usage } from '../../domain/index.js'

const dollars = z.number().nonnegative()

/** Dollars per million tokens. What is not given costs what `input` does. Zero is a price. */
export const priceSettingsSchema = z.strictObject({
  input: dollars,
  output: dollars,
  /** Tokens read from the provider's cache. */
  cached_input: dollars.optional(),
  /** Tokens written to it. */
  cache_write: dollars.optional(),
})
export type PriceSettings = z.infer<typeof priceSettingsSchema>

/** By the model's name; `*` for all others. */
export const pricesSettingsSchema = z.record(z.string(), priceSettingsSchema)

export function configuredPrice(
  prices: Record<string, PriceSettings>,
  model: string,
): ((usage: Usage) => number) | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : prices['*']
  if (!price) return null
  const { input, output, cached_input = input, cache_write = input } = price
  return (usage) => {
    const { cached_tokens, cache_write_tokens, reasoning_tokens } = usage
    const uncached = Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens)
    const written = Math.max(usage.output_tokens, reasoning_tokens)
    const sum = uncached * input + cached_tokens * cached_input + cache_write_tokens * cache_write + written * output
    return sum / 1_000_000
  }
}
