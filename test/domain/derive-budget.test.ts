import { describe, expect, it } from 'vitest'
import type { Adjustment, Budget, Parent, Profile } from '../../src/domain/index.js'
import { type Asked, child, refusal, root } from './derive-lab.js'
import { adjustment, fresh } from './deriving.js'

describe('a budget', () => {
  const budget = (asked: Asked) => child(asked).execution.budget
  const clamp = (name: string, asked: string, given: string, reason: string) =>
    adjustment(`execution.budget.${name}`, asked, given, reason)

  it('comes from the request, else the profile, else the settings', () => {
    const settings = { budget: { tool_calls: 9, turns: 4 } }
    expect(budget({ settings })).toMatchObject({
      tool_calls: 9,
      turns: 4,
      context_tokens: 8192,
      total_tokens: 8 * 8192,
    })
    const profile: Profile = { budget: { tool_calls: 8, context_tokens: 4000 } }
    expect(budget({ settings, profile })).toMatchObject({ tool_calls: 8, turns: 4, total_tokens: 32_000 })
    expect(budget({ settings, profile, request: { budget: { tool_calls: 7 } } })).toMatchObject({ tool_calls: 7 })
  })

  it.each<[string, Asked, Partial<Budget>, Adjustment[]]>([
    [
      'the parent’s own counts',
      { request: { budget: { tool_calls: 400, turns: 151, context_tokens: 130_000 } } },
      { tool_calls: 300, turns: 150, context_tokens: 120_000 },
      [
        clamp('tool_calls', '400', '300', 'its parent has no more itself'),
        clamp('turns', '151', '150', 'its parent has no more itself'),
        clamp('context_tokens', '130000', '120000', 'its parent has no more itself'),
      ],
    ],
    [
      'what the model takes',
      { window: 10_000, request: { budget: { context_tokens: 16_000 } } },
      { context_tokens: 10_000 },
      [clamp('context_tokens', '16000', '10000', 'p/m takes no more')],
    ],
    [
      'the time left',
      { parent: fresh(root(), { wall_ms: 30_000.7 }), request: { budget: { wall_ms: 3_600_000 } } },
      { wall_ms: 30_000 },
      [clamp('wall_ms', '3600000', '30000', 'its parent has no more left')],
    ],
    [
      'the tokens, the money and the sub-agents left',
      {
        parent: fresh(root({ budget: { cost_usd: 1 } }), { total_tokens: 30_000, cost_usd: 0.5, sub_agents: 4 }),
        profile: { can_spawn_children: true },
        request: { budget: { total_tokens: null, cost_usd: null, sub_agents: 50 } },
      },
      { total_tokens: 30_000, cost_usd: 0.5, sub_agents: 3 },
      [
        clamp('total_tokens', 'no limit', '30000', 'its parent has no more left'),
        clamp('cost_usd', 'no limit', '0.5', 'its parent has no more left'),
        clamp('sub_agents', '50', '3', 'its parent has no more left'),
      ],
    ],
    [
      'its profile',
      {
        profile: { budget: { tool_calls: 5, total_tokens: 9000 } },
        request: { budget: { tool_calls: 6, total_tokens: null } },
      },
      { tool_calls: 5, total_tokens: 9000 },
      [
        clamp('tool_calls', '6', '5', 'the profile helper gives no more'),
        clamp('total_tokens', 'no limit', '9000', 'the profile helper gives no more'),
      ],
    ],
    [
      'no sub-agents where it may have none',
      { request: { budget: { sub_agents: 2 } } },
      { sub_agents: 0 },
      [clamp('sub_agents', '2', '0', 'it may not have sub-agents')],
    ],
    [
      'a profile’s wish to what there is',
      { profile: { budget: { tool_calls: 500 } } },
      { tool_calls: 300, turns: 150 },
      [clamp('tool_calls', '500', '300', 'its parent has no more itself')],
    ],
  ])('is held to %s, and says so', (_, asked, given, adjustments) => {
    const contract = child(asked)
    expect(contract.execution.budget).toMatchObject(given)
    expect(contract.adjustments).toEqual(adjustments)
  })

  it('that nobody asked for is held to it without a word, and leaves half of the rest', () => {
    const small = fresh(
      root({ budget: { tool_calls: 4, turns: 3, context_tokens: 5000, wall_ms: 20_000, cost_usd: 2 } }),
      { total_tokens: 40_003, sub_agents: 8 },
    )
    const contract = child({ parent: small, profile: { can_spawn_children: true } })
    expect(contract.execution.budget).toEqual({
      tool_calls: 4,
      turns: 3,
      context_tokens: 5000,
      wall_ms: 20_000,
      total_tokens: 20_001,
      cost_usd: 0.5,
      sub_agents: 2,
    })
    expect(contract.adjustments).toEqual([])
    expect(child({ window: 4000 })).toMatchObject({ execution: { budget: { context_tokens: 4000 } }, adjustments: [] })
  })

  it('has no limit only where its parent has none', () => {
    const parent = fresh(root({ budget: { total_tokens: null } }))
    expect(budget({ parent, request: { budget: { total_tokens: null } } })).toMatchObject({
      total_tokens: null,
      cost_usd: null,
    })
    expect(budget({ parent }).total_tokens).toBe(65_536)
    expect(budget({ parent, profile: { can_spawn_children: true } }).total_tokens).toBe(null)
    expect(budget({ parent, request: { budget: { cost_usd: 3 } } }).cost_usd).toBe(3)
  })

  it.each<[Partial<Budget>, string]>([
    [{ tool_calls: 0 }, 'tool_calls must be positive'],
    [{ turns: -1 }, 'turns must be positive'],
    [{ wall_ms: 4999, cost_usd: 0 }, 'cost_usd must be positive; wall_ms must be at least 5000'],
    [{ sub_agents: -1 }, 'sub_agents must not be negative'],
    [{ total_tokens: 1999 }, 'total_tokens must be at least 2000 for a sub-agent'],
    [
      { calls: 3 } as never,
      'there is no budget of calls; there are tool_calls, turns, context_tokens, wall_ms, total_tokens, cost_usd, sub_agents',
    ],
    [{ tool_calls: 2.5, turns: 3 }, 'execution.budget.tool_calls: Invalid input: expected int, received number'],
  ])('of %j is refused', (wish, fault) => {
    expect(refusal({ request: { budget: wish } })).toBe(`Not spawned: ${fault}.`)
    expect(refusal({ profile: { budget: wish } })).toBe(`Not spawned: ${fault}.`)
  })

  describe('that nobody asked for', () => {
    const lead: Profile = { can_spawn_children: true }
    const part = (limits: Partial<Budget>, left: Partial<Parent['left']>, profile?: Profile) => {
      const { total_tokens, cost_usd } = budget({
        parent: fresh(root({ budget: limits }), left),
        ...(profile ? { profile } : {}),
      })
      return [total_tokens, cost_usd]
    }

    it('is eight full requests and a tenth of the money, more for one that delegates, and half of what is left at most', () => {
      const limits = { total_tokens: 1_000_000, cost_usd: 2 }
      expect(part(limits, {})).toEqual([65_536, 0.2])
      expect(part(limits, {}, lead)).toEqual([250_000, 0.5])
      expect(part(limits, { total_tokens: 100_001, cost_usd: 0.3 })).toEqual([50_000, 0.15])
      expect(part(limits, { total_tokens: 100_001, cost_usd: 0.3 }, lead)).toEqual([50_000, 0.15])
      // Ten that read much at once fit into a limit, however small it is.
      expect(part({ total_tokens: 200_000 }, {})).toEqual([20_000, null])
      expect(part({ total_tokens: 200_000 }, {}, lead)).toEqual([50_000, null])
      // One that has no sub-agents left to have is no other than the rest.
      expect(part(limits, { sub_agents: 1 }, lead)).toEqual([65_536, 0.2])
    })

    it('is the same for eight at once', () => {
      const limits = { total_tokens: 1_200_000, cost_usd: 2 }
      const left = { ...limits }
      for (let n = 0; n < 8; n += 1) {
        const [tokens = 0, cost = 0] = part(limits, left) as number[]
        expect([tokens, cost]).toEqual([65_536, 0.2])
        left.total_tokens -= tokens
        left.cost_usd -= cost
      }
    })

    it('gives way to the settings', () => {
      const settings = { budget: { total_tokens: 30_000, cost_usd: 0.01 } }
      const parent = fresh(root({ budget: { cost_usd: 2 } }))
      expect(budget({ parent, settings })).toMatchObject({ total_tokens: 30_000, cost_usd: 0.01 })
      expect(budget({ parent, settings, profile: lead })).toMatchObject({ total_tokens: 30_000, cost_usd: 0.01 })
    })

    it('is at least what it needs, where that is there', () => {
      const parent = fresh(root({ budget: { total_tokens: 20_000, cost_usd: 0.1 } }), { total_tokens: 3000 })
      expect(budget({ parent, least_usd: 0.0196 })).toMatchObject({ total_tokens: 2000, cost_usd: 0.0196 })
      expect(budget({ parent, least_tokens: 2900 }).total_tokens).toBe(2900)
    })
  })

  const rest = 'o the rest yourself, or answer with what you have.'
  const wait = (aside: string) =>
    `Wait for running sub-agents with spawn_await, which gives back what they do not use of the ${aside} set aside for them, d${rest}`

  it.each<[Partial<Budget>, Partial<Omit<Parent, 'left'>>, Partial<Parent['left']>, Asked, string]>([
    [{ sub_agents: 1 }, {}, { sub_agents: 0 }, {}, `the budget of 1 sub-agent is used up. D${rest}`],
    [{ sub_agents: 1500 }, {}, { sub_agents: 0 }, {}, `the budget of 1,500 sub-agents is used up. D${rest}`],
    [
      { total_tokens: 20_000 },
      {},
      { total_tokens: 1999 },
      {},
      `1,999 tokens are left of 20,000; a sub-agent needs at least 2,000. D${rest}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 }, reserved: { total_tokens: 0, cost_usd: 1 } },
      { total_tokens: 1999 },
      {},
      `7,999 tokens are left of 20,000, of which 6,000 are kept for your own next turns; a sub-agent needs at least 2,000. D${rest}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 }, reserved: { total_tokens: 12_345, cost_usd: 0 } },
      { total_tokens: -500 },
      {},
      `5,500 tokens are left of 20,000, all of it kept for your own next turns; a sub-agent needs at least 2,000. ${wait('12,345')}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 } },
      { total_tokens: -7000 },
      { least_tokens: 8401 },
      `0 tokens are left of 20,000; a sub-agent needs at least 8,401. D${rest}`,
    ],
    [{ cost_usd: 0.3 }, {}, { cost_usd: 0 }, {}, `0 USD are left of 0.3. D${rest}`],
    [
      { cost_usd: 0.1 },
      { kept: { total_tokens: 0, cost_usd: 0.02 }, reserved: { total_tokens: 5000, cost_usd: 0 } },
      { cost_usd: 0.1 - 0.0692156862745 - 0.02 },
      { least_usd: 0.0196078431 },
      `0.0307 USD are left of 0.1, of which 0.02 are kept for your own next turns; a sub-agent needs at least 0.0197. D${rest}`,
    ],
    [
      { cost_usd: 1 },
      { reserved: { total_tokens: 5000, cost_usd: 0.1 + 0.2 } },
      { cost_usd: 0.00002 },
      { least_usd: 0.00003 },
      `less than 0.0001 USD are left of 1; a sub-agent needs at least 0.0001. ${wait('0.3')}`,
    ],
    [
      { wall_ms: 60_000 },
      {},
      { wall_ms: 4987 },
      {},
      `of the budget of 60 seconds, 4.9 are left, and a sub-agent needs at least 5. D${rest}`,
    ],
    [
      { cost_usd: 1 },
      {},
      {},
      { least_usd: 0.0196, settings: { budget: { cost_usd: 0.001 } } },
      'its budget gives it 0.001 USD, and a sub-agent needs at least 0.0196. Ask for more, use another profile, or do it yourself.',
    ],
    [
      {},
      {},
      {},
      { least_tokens: 8400, request: { budget: { total_tokens: 4000 } } },
      'its budget gives it 4,000 tokens, and a sub-agent needs at least 8,400. Ask for more, use another profile, or do it yourself.',
    ],
  ])('is refused where there is too little: of %j %j %j, asked %j', (limits, more, left, asked, message) => {
    const parent = { ...fresh(root({ budget: limits }), left), ...more }
    expect(refusal({ ...asked, parent })).toBe(`Not spawned: ${message}`)
  })

  it('can be more than the usual share, where it is asked for', () => {
    const parent = fresh(root(), { total_tokens: 7999 })
    expect(budget({ parent }).total_tokens).toBe(3999)
    expect(budget({ parent, request: { budget: { total_tokens: 7000 } } }).total_tokens).toBe(7000)
  })

  it('says what was not given in few digits', () => {
    const parent = fresh(root({ budget: { cost_usd: 1 } }), { cost_usd: 0.1 + 0.2 })
    expect(child({ parent, request: { budget: { cost_usd: 5 } } }).adjustments).toEqual([
      clamp('cost_usd', '5', '0.3', 'its parent has no more left'),
    ])
  })

  it('that is tiny for one request is still enough to begin with', () => {
    expect(budget({ request: { budget: { context_tokens: 100, tool_calls: 1 } } }).total_tokens).toBe(2000)
  })

  it('bounds attempts and their number', () => {
    const asked: Asked = { profile: { attempt_timeout_ms: 90_000, max_retries: 1 }, request: { max_retries: 5 } }
    expect(child(asked)).toMatchObject({
      execution: { attempt_timeout_ms: 60_000, max_retries: 1 },
      adjustments: [
        adjustment('execution.attempt_timeout_ms', '90000', '60000', 'it has no more time'),
        adjustment('execution.max_retries', '5', '1', 'the profile helper gives no more'),
      ],
    })
    expect(child({ profile: { attempt_timeout_ms: 10 } }).execution.attempt_timeout_ms).toBe(5000)
    expect(refusal({ request: { max_retries: -1 } })).toMatch('execution.max_retries')
  })
})
