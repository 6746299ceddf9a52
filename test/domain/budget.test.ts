import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  budgetFaults,
  left,
  openLedger,
  ROOT_BUDGET,
  reserve,
  settle,
  spend,
  withDefaults,
} from '../../src/domain/index.js'

describe('a budget', () => {
  it.each([
    [{ tool_calls: 0 }, ['tool_calls must be positive']],
    [{ turns: -1 }, ['turns must be positive']],
    [{ context_tokens: 0 }, ['context_tokens must be positive']],
    [{ total_tokens: 0 }, ['total_tokens must be positive']],
    [{ cost_usd: Number.NaN }, ['cost_usd must be positive']],
    [{ wall_ms: 4999 }, ['wall_ms must be at least 5000']],
    [{ sub_agents: -1 }, ['sub_agents must not be negative']],
    [{ tool_calls: 0, wall_ms: 1 }, ['tool_calls must be positive', 'wall_ms must be at least 5000']],
    [{ wall_ms: 5000, sub_agents: 0, cost_usd: null }, []],
  ])('%j has the faults %j', (budget, faults) => {
    expect(budgetFaults(budget)).toEqual(faults)
  })

  it('keeps its defaults where nothing was asked for', () => {
    expect(withDefaults(ROOT_BUDGET, { tool_calls: 5 })).toEqual({ ...ROOT_BUDGET, tool_calls: 5 })
  })
})

describe('a ledger', () => {
  it('has no limit where the budget has none', () => {
    const ledger = openLedger({ ...ROOT_BUDGET, total_tokens: null })
    expect(left(spend(ledger, { total_tokens: 1e9 }), 'total_tokens')).toBe(Number.POSITIVE_INFINITY)
  })

  it('refuses a share that is not there, and an unlimited child under a limited parent', () => {
    const ledger = openLedger({ ...ROOT_BUDGET, total_tokens: 1000, sub_agents: 2, cost_usd: 1 })
    expect(reserve(ledger, { total_tokens: 1001, cost_usd: 0, sub_agents: 0 })).toEqual({
      ok: false,
      limit: 'total_tokens',
    })
    expect(reserve(ledger, { total_tokens: 1, cost_usd: null, sub_agents: 0 })).toEqual({
      ok: false,
      limit: 'cost_usd',
    })
    expect(reserve(ledger, { total_tokens: 1, cost_usd: 0, sub_agents: 3 })).toEqual({ ok: false, limit: 'sub_agents' })
  })

  it('never gives out more than it has, and gets back what was not spent', () => {
    const share = fc.record({ total_tokens: fc.nat(400), cost_usd: fc.constant(0), sub_agents: fc.nat(3) })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(share, fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 20 }),
        (children) => {
          let ledger = openLedger({ ...ROOT_BUDGET, total_tokens: 1000, cost_usd: 1, sub_agents: 8 })
          const open: {
            asked: (typeof children)[0][0]
            used: { total_tokens: number; cost_usd: number; sub_agents: number }
          }[] = []
          let spent = 0
          for (const [asked, part] of children) {
            const reserved = reserve(ledger, asked)
            if (!reserved.ok) continue
            ledger = reserved.ledger
            const total_tokens = Math.floor(asked.total_tokens * part)
            open.push({ asked, used: { total_tokens, cost_usd: 0, sub_agents: 0 } })
            expect(left(ledger, 'total_tokens')).toBeGreaterThanOrEqual(0)
            expect(left(ledger, 'sub_agents')).toBeGreaterThanOrEqual(0)
          }
          for (const { asked, used } of open) {
            ledger = settle(ledger, asked, used)
            spent += used.total_tokens
          }
          expect(left(ledger, 'total_tokens')).toBe(1000 - spent)
          expect(ledger.reserved).toEqual({ total_tokens: 0, cost_usd: 0, sub_agents: 0 })
        },
      ),
    )
  })
})
