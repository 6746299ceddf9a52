/** What was spent. A cost of null is one that nobody knows, because the price of a call is not known. */
export type Figures = { turns: number; tool_calls: number; refusals: number; tokens: number; cost_usd: number | null }

export const NO_FIGURES: Figures = { turns: 0, tool_calls: 0, refusals: 0, tokens: 0, cost_usd: 0 }
