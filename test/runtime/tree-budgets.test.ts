import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { childNeeds } from '../../src/domain/index.js'
import { createMemoryStore, createRetinue, type Settings, type StoredEvent } from '../../src/index.js'
import type { Models } from '../../src/models/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { toldTo } from '../seeds/family.js'
import { bench, dataOf, runToEnd } from '../support/bench.js'
import { makeProject } from '../support/project.js'
import { type Plan, PRICE, randomModel } from '../support/random-tree.js'
import '../support/seed.js'
import { auditBudgets } from '../support/tree-ledgers.js'

const RUNS = process.env.RETINUE_FULL ? 300 : 40

const SETTINGS: Settings = {
  mode: 'auto',
  // A call that failed is not made again after a while; the whole attempt may be.
  max_attempts: 1,
  delegation: {
    max_depth: 4,
    // Requests that turn out larger than expected are to end by what they cost.
    budget: { context_tokens: 500_000 },
    profiles: {
      lead: { can_spawn_children: true },
      rich: { can_spawn_children: true, budget: { total_tokens: 1e9, cost_usd: 1e6, sub_agents: 1000 } },
      tiny: { budget: { total_tokens: 4000, tool_calls: 2 } },
    },
  },
}

/** Small ones as often as large ones: what happens at a limit happens early. */
const scale = (least: number, times: number) =>
  fc.noBias(fc.integer({ min: 0, max: 1000 })).map((n) => least * times ** (n / 1000))

const BUDGETS = fc.record({
  total_tokens: scale(20_000, 300).map(Math.round),
  cost_usd: fc.option(scale(0.2, 300)),
  sub_agents: scale(3, 40).map(Math.round),
  tool_calls: scale(5, 10).map(Math.round),
})

const PLANS: fc.Arbitrary<Plan> = fc.record({
  seed: fc.nat(),
  fails: fc.constantFrom(0, 0.1, 0.4),
  // Each takes the time until a word of another process is heard.
  hangs: fc.constantFrom(0, 0, 0, 0.05),
  spends_much: fc.constantFrom(0, 0.1, 0.5),
})

const TREES = fc.record({
  plan: PLANS,
  budget: BUDGETS,
  max_depth: fc.noBias(fc.integer({ min: 1, max: 4 })),
  max_concurrent: fc.noBias(fc.integer({ min: 1, max: 6 })),
  max_retries: fc.noBias(fc.integer({ min: 0, max: 2 })),
})

/** A run in which everybody does what the plan says, to its end. Whoever hangs is cancelled. */
async function grow(
  { plan, budget, max_depth, max_concurrent, max_retries }: typeof TREES extends fc.Arbitrary<infer T> ? T : never,
  cwd: string,
) {
  const stop = (agent_id: string) => {
    if (agent_id === 'root') run.cancel('it hangs')
    else retinue.cancelAgent(run.run_id, agent_id, 'test', 'it hangs').catch(() => {})
  }
  const model = randomModel('plan/random', plan, stop)
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const settings = { ...SETTINGS, max_concurrent, delegation: { ...SETTINGS.delegation, max_retries } }
  const retinue = await createRetinue({ cwd, store, models: modelsOf(model), settings })
  const run = retinue.run({ task: 'Work', budget, delegation: { max_depth } })
  const events: StoredEvent[] = []
  try {
    for await (const event of run) events.push(event)
    return { events, result: await run.result(), till: model.till }
  } finally {
    await retinue.close()
  }
}

describe('random trees with random spending', () => {
  it('keep to every budget at every event, and what was set aside and not spent is back', async () => {
    const cwd = makeProject({})
    const seen = { agents: 0, exceeded: 0, overspent: 0, refused: 0, cancelled: 0, retried: 0, deepest: 0 }
    await fc.assert(
      fc.asyncProperty(TREES, async (tree) => {
        const { events, result, till } = await grow(tree, cwd)
        const { faults, agents } = auditBudgets(events, tree.max_depth)
        expect(faults).toEqual([])
        for (const { memory } of agents) {
          expect(memory.ledger.reserved).toEqual({ total_tokens: 0, cost_usd: 0, sub_agents: 0 })
          expect(memory.children.every(({ closed }) => closed !== null)).toBe(true)
        }
        const failed = dataOf(events, 'model.failed')
        const lost = failed.reduce((sum, { spent_tokens }) => sum + spent_tokens, 0)
        const [root] = agents
        expect(root?.memory.ledger.spent.total_tokens).toBe(till.tokens + lost)
        expect(root?.memory.ledger.spent.cost_usd).toBeCloseTo((till.tokens + lost) * PRICE, 6)
        expect(root?.memory.ledger.spent.sub_agents).toBe(dataOf(events, 'agent.subagent_created').length)
        expect(result.usage.input_tokens + result.usage.output_tokens).toBe(till.tokens)
        expect(till.most_at_once).toBeLessThanOrEqual(tree.max_concurrent)
        expect(dataOf(events, 'agent.subagent_closed')).toHaveLength(dataOf(events, 'agent.subagent_created').length)
        // A budget is a reason to refuse, never to break down.
        expect(dataOf(events, 'tool.finished').filter(({ content }) => content.includes('failed inside'))).toEqual([])
        seen.agents += agents.length
        seen.exceeded += dataOf(events, 'budget.exceeded').length
        seen.overspent += agents.filter(({ past }) => past.total_tokens > 0 || past.cost_usd > 0).length
        seen.refused += dataOf(events, 'tool.finished').filter(({ content }) =>
          content.includes('Not spawned: '),
        ).length
        seen.cancelled += agents.filter(({ memory }) => memory.result?.outcome === 'cancelled').length
        seen.retried += agents.filter(({ memory }) => memory.attempt.number > 1).length
        seen.deepest = Math.max(seen.deepest, ...agents.map(({ memory }) => memory.contract.parent.depth))
      }),
      { numRuns: RUNS },
    )
    // A test of trees that do nothing would always pass.
    const least = { agents: RUNS * 2, exceeded: 5, overspent: 3, refused: 5, cancelled: 1, retried: 1, deepest: 2 }
    for (const [what, few] of Object.entries(least)) {
      expect(seen[what as keyof typeof seen], what).toBeGreaterThanOrEqual(few)
    }
  }, 240_000)
})

const DONE = { text: 'Done.' }
const SPAWN = { calls: [{ spawn: { task: 'Work' } }] }
const AWAIT = { calls: [{ spawn_await: { job_ids: '*' } }] }
const KEEP = 'Do the rest yourself, or answer with what you have.'

type Step = Extract<ScriptedModelOptions['agents'][string], unknown[]>[number]

/** An answer that says what it costs. */
function priced(step: Step, tokens: number): Step {
  return { ...step, usage: { input_tokens: tokens, output_tokens: 100 }, cost_usd: (tokens + 100) * PRICE }
}

/** What the root's model was told by the calls that were refused for a budget. */
async function refusals(retinue: Awaited<ReturnType<typeof bench>>['retinue'], run_id: string): Promise<string[]> {
  return (await toldTo(retinue, run_id)).filter(({ is_error }) => is_error).map(({ content }) => content)
}

describe('at a limit of the whole tree the next call is refused, in words that a model can act on', () => {
  it('sub_agents: those of all depths count', async () => {
    const { retinue } = await bench(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Lead', profile: 'lead' } }] }, SPAWN, SPAWN, AWAIT, DONE],
        a1: [SPAWN, AWAIT, DONE],
        'a*': [DONE],
      },
      { settings: { delegation: { profiles: { lead: { can_spawn_children: true } } } } },
    )
    const { result, events } = await runToEnd(retinue, { budget: { sub_agents: 3 } })
    expect(await refusals(retinue, result.run_id)).toEqual([
      `Not spawned: the budget of 3 sub-agents is used up. ${KEEP}`,
    ])
    expect(dataOf(events, 'agent.subagent_created').map(({ sub_agent_id }) => sub_agent_id)).toEqual([
      'a1',
      'a1.1',
      'a2',
    ])
    expect(result).toMatchObject({ outcome: 'completed', sub_agents: 3 })
  })

  it('total_tokens: what is set aside is gone until it comes back', async () => {
    const half = { calls: [{ spawn: { task: 'Work', profile: 'half' } }] }
    const { retinue } = await bench(
      {
        root: [{ calls: [...half.calls, ...half.calls] }, AWAIT, half, AWAIT, DONE].map((step) => priced(step, 900)),
        'a*': [priced(DONE, 900)],
      },
      { settings: { delegation: { profiles: { half: { budget: { total_tokens: 70_000 } } } } } },
    )
    const { result, events } = await runToEnd(retinue, { budget: { total_tokens: 90_000 } })
    const adjusted = dataOf(events, 'agent.subagent_created').map(
      ({ contract }) => contract.execution.budget.total_tokens,
    )
    // The second gets what is left, and says so; the third gets its share again.
    expect(adjusted.map((tokens) => tokens === 70_000)).toEqual([true, false, true])
    expect(adjusted[1]).toBeLessThan(20_000)
    expect(result).toMatchObject({ outcome: 'completed', usage: { input_tokens: 8 * 900, output_tokens: 8 * 100 } })
  })

  it('total_tokens: with too little for a sub-agent there is none', async () => {
    const { retinue } = await bench({
      root: [SPAWN, DONE].map((step) => priced(step, 900)),
    })
    const { result, events } = await runToEnd(retinue, { budget: { total_tokens: 8500 } })
    const [told] = await refusals(retinue, result.run_id)
    // Nobody is running who could give anything back.
    expect(told).toMatch(
      /^Not spawned: 7,500 tokens are left of 8,500, of which [\d,]+ are kept for your own next turns; a sub-agent needs at least [\d,]+\. Do the rest yourself/,
    )
    expect(dataOf(events, 'agent.subagent_created')).toEqual([])
  })

  it('cost_usd: what is set aside is gone until it comes back', async () => {
    const all = { calls: [{ spawn: { task: 'Work', profile: 'all' } }] }
    const { retinue } = await bench(
      {
        root: [{ calls: [...all.calls, ...all.calls] }, AWAIT, all, AWAIT, DONE].map((step) => priced(step, 900)),
        'a*': [priced(DONE, 900)],
      },
      { settings: { delegation: { profiles: { all: { budget: { cost_usd: 100 } } } } } },
    )
    const { result, events } = await runToEnd(retinue, { budget: { cost_usd: 1 } })
    const [told, ...others] = await refusals(retinue, result.run_id)
    expect(others).toEqual([])
    expect(told).toMatch(
      /^Not spawned: 0\.\d{1,4} USD are left of 1, (?:of which 0\.\d{1,4} are|all of it) kept for your own next turns; a sub-agent needs at least 0\.\d{1,4}\. Wait for running sub-agents with spawn_await, which gives back what they do not use of the 0\.\d{1,4} set aside for them, do the rest/,
    )
    const made = dataOf(events, 'agent.subagent_created')
    expect(made.map(({ contract }) => contract.adjustments.map(({ field }) => field))).toEqual([
      ['execution.budget.cost_usd'],
      ['execution.budget.cost_usd'],
    ])
    expect(result.cost_usd).toBeCloseTo(7 * 1000 * PRICE, 9)
  })

  it('childNeeds: with so much an agent makes one turn, with less none', async () => {
    const first = async (budget: { total_tokens?: number }) => {
      const { retinue } = await bench({ root: [DONE] })
      const { result, events } = await runToEnd(retinue, { budget })
      return { outcome: result.outcome, size: dataOf(events, 'model.requested')[0]?.estimated_tokens }
    }
    const { size = 0 } = await first({})
    expect(size).toBeGreaterThan(0)
    const total_tokens = childNeeds(size)
    expect(await first({ total_tokens })).toEqual({ outcome: 'completed', size })
    expect((await first({ total_tokens: total_tokens - 1 })).outcome).toBe('budget_exceeded')
  })

  it('depth: at the last level nobody delegates', async () => {
    const { retinue } = await bench(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Lead', profile: 'lead' } }] }, DONE],
        a1: [SPAWN, DONE],
      },
      { settings: { delegation: { profiles: { lead: { can_spawn_children: true } } } } },
    )
    const { events } = await runToEnd(retinue, { delegation: { max_depth: 1 } })
    expect(dataOf(events, 'tool.refused')).toMatchObject([
      { tool: 'spawn', code: 'denied', content: 'Not allowed: Maximum sub-agent depth (1) exceeded.' },
    ])
  })

  it('a sub-agent that spends past its own budget is asked for a report and closed; its parent has the rest', async () => {
    const read = { calls: [{ list_dir: {} }] }
    const { retinue } = await bench(
      {
        root: [{ calls: [{ spawn_agent: { task: 'Work', profile: 'small' } }] }, DONE].map((step) => priced(step, 900)),
        a1: { steps: [priced(read, 900), priced(read, 40_000)], report: [priced({ text: 'So far.' }, 900)] },
      },
      {
        settings: { delegation: { profiles: { small: { budget: { total_tokens: 20_000, context_tokens: 90_000 } } } } },
      },
    )
    const { result, events } = await runToEnd(retinue, { budget: { total_tokens: 200_000 } })
    const [closed] = dataOf(events, 'agent.subagent_closed')
    // One call went past it. There is no other, not even for the report.
    expect(closed).toMatchObject({
      result: { outcome: 'budget_exceeded', cause: 'total_tokens', turns: 2 },
      used: { total_tokens: 41_100 },
    })
    expect((await toldTo(retinue, result.run_id))[0]?.content).toMatch(
      /^\[ERROR\] budget_exceeded: The budget of 20000 tokens is used up\./,
    )
    expect(auditBudgets(events, 2).faults).toEqual([])
    expect(result.usage).toMatchObject({ input_tokens: 900 * 3 + 40_000 })
  })
})

describe('a sub-agent that is made while another overspends', () => {
  it('gets what is left then, not what was left before', async () => {
    const cwd = makeProject({})
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const turns: Step[] = [
      {
        calls: [
          { spawn: { task: 'Overspend', profile: 'some' } },
          { spawn: { task: 'Take all', profile: 'all', model: 'scripted/late' } },
        ],
      },
      AWAIT,
      DONE,
    ]
    const agents = {
      root: turns.map((step) => priced(step, 900)),
      a1: [priced(DONE, 60_000)],
      a2: [priced(DONE, 900)],
    }
    const now = createScriptedModel({ name: 'now', agents })
    const late = createScriptedModel({ name: 'late', agents })
    const both = modelsOf(now, late)
    // The second sub-agent is being made when the first has been closed.
    const models: Models = {
      ...both,
      resolve: async (name) => {
        if (name === late.name) await opened
        return both.resolve(name)
      },
    }
    const profiles = { some: { budget: { total_tokens: 20_000 } }, all: { budget: { total_tokens: 1_000_000 } } }
    const store = createMemoryStore({ clock: { now: () => Date.now() } })
    const retinue = await createRetinue({
      ...{ cwd, store, models },
      settings: { delegation: { profiles, models: [late.name] } },
    })
    onTestFinished(() => retinue.close())
    const run = retinue.run({ task: 'Work', budget: { total_tokens: 100_000 } })
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === 'agent.subagent_closed') open()
    }
    expect(await run.result()).toMatchObject({ outcome: 'completed' })
    expect(dataOf(events, 'tool.finished').map(({ tool, status }) => [tool, status])).toEqual([
      ['spawn', 'ok'],
      ['spawn', 'ok'],
      ['spawn_await', 'ok'],
    ])
    const [, second] = dataOf(events, 'agent.subagent_created')
    expect(second?.contract.execution.budget.total_tokens).toBeLessThan(40_000)
    expect(auditBudgets(events, 2).faults).toEqual([])
  })
})
