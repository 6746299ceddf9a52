import type { AgentFacts, PlanSurroundings } from '../../src/planning/index.js'

const AGENTS: AgentFacts[] = [
  { name: 'executor', write_paths: null, budget: {} },
  { name: 'reviewer', write_paths: [], budget: {} },
  { name: 'tester', write_paths: ['test/**'], budget: {} },
  { name: '@writer', write_paths: ['docs/**'], budget: {} },
]

/** A place for plans: four agents, a budget in round figures, and nobody who would let `rm` be run. */
export function surroundings(): PlanSurroundings {
  return {
    agent: (name) => AGENTS.find((agent) => agent.name === name) ?? null,
    agents: AGENTS.map(({ name }) => name),
    budget: {
      tool_calls: 200,
      turns: 300,
      context_tokens: 100_000,
      wall_ms: 3_600_000,
      total_tokens: 1_000_000,
      cost_usd: 5,
      sub_agents: 20,
    },
    used_agents: 0,
    unwritable: null,
    refusal: async (command) => (command.startsWith('rm ') ? 'it removes files' : null),
  }
}
