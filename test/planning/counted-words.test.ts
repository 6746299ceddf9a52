import { expect, it } from 'vitest'
import { estimateLines } from '../../src/cli/plan/estimate-words.js'
import { previewLines } from '../../src/cli/plan/preview-lines.js'
import { paintFor } from '../../src/cli/style.js'
import { planOf, STEP, scene } from '../support/plan-attacks.js'

const PLAIN = paintFor({ isTTY: false } as typeof process.stderr, {})

async function second(count: number) {
  const { retinue } = await scene({})
  const steps = Array.from({ length: count }, (_, i) => ({ ...STEP, id: `s${i}` }))
  const checked = await retinue.checkPlan(planOf({ steps }))
  return checked.ok ? previewLines(checked.preview, PLAIN)[1] : checked.faults
}

it('one step comes after no other', async () => {
  expect(await second(1)).toBe('1 step')
  expect(await second(2)).toBe('2 steps, one after the other')
})

it('one call and one token are one', () => {
  const one = { most: 1, likely: null }
  const lines = estimateLines({ tool_calls: one, tokens: one, cost_usd: one, duration_ms: one, basis: '' })
  expect(lines[0]).toMatch(/^At most: 1 call, 1 token, /)
})
