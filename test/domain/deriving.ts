import {
  type Adjustment,
  type Contract,
  chooseChildModel,
  DELEGATION_DEFAULTS,
  DELEGATION_TOOLS,
  type DelegationRequest,
  type Derived,
  deriveContract,
  type Parent,
  type Profile,
  type RegistryEntry,
  type RootRequest,
  rootContract,
} from '../../src/domain/index.js'

export const PLAIN_TOOLS = [
  'read_file',
  'search_files',
  'write_file',
  'edit_file',
  'run_command',
  'run_tests',
  'web_fetch',
  'load_skill',
  'mcp__tracker__list',
  'mcp__db__query',
]
export const ALL_TOOLS = [...PLAIN_TOOLS, 'ask_user', ...DELEGATION_TOOLS]

const REQUEST: RootRequest = {
  run_id: 'r1',
  task: 'Mend the roof',
  prompt_digest: 'd'.repeat(64),
  model: { provider: 'p', model: 'm', source: 'user', window: null },
  mode: 'auto',
  rules: [],
  known_tools: ALL_TOOLS,
  nameable_tools: [...ALL_TOOLS, 'web_search'],
  known_servers: ['tracker', 'db'],
  known_skills: ['roofing', 'painting', 'tiling'],
  budget: {},
  delegation: { enabled: true, max_depth: 3, models: ['p/cheap', 'fast'] },
  can_ask_person: true,
  base: 'c0ffee',
}

export type RootAsked = Partial<Omit<RootRequest, 'profile'>> & { profile?: Profile | undefined }

export function tryRoot({ profile, ...changes }: RootAsked = {}) {
  const named = profile ? { name: 'helper', profile, digest: 'f'.repeat(64) } : null
  return rootContract({ ...REQUEST, ...changes, profile: named })
}

export function root(asked: RootAsked = {}): Contract {
  const made = tryRoot(asked)
  if (!made.ok) throw new Error(made.faults.join())
  return made.contract
}

/** An agent that has spent nothing yet. */
export function fresh(contract: Contract, left: Partial<Parent['left']> = {}, agent_id = 'root'): Parent {
  const { total_tokens, cost_usd, sub_agents, wall_ms } = contract.execution.budget
  const all = { total_tokens: total_tokens ?? Infinity, cost_usd: cost_usd ?? Infinity, sub_agents, wall_ms }
  return { agent_id, contract, left: { ...all, ...left } }
}

export type ChildAsked = {
  above?: Contract | undefined
  name?: string
  profile?: Profile | undefined
  entry?: Partial<RegistryEntry> | undefined
  request?: Partial<DelegationRequest> | undefined
  ask_person?: boolean
  window?: number | null
}

export function tryChild(asked: ChildAsked = {}): Derived {
  const { above = root(), name = 'helper', profile, entry, ask_person = false, window = null } = asked
  const named = profile ? { name, profile, digest: 'f'.repeat(64) } : null
  const request: DelegationRequest = { task: 'Count the tiles', ...asked.request }
  const chosen = chooseChildModel(above, named, request)
  if (!chosen.ok) return chosen
  return deriveContract({
    parent: fresh(above),
    child: { id: 'a1', step_idx: 0 },
    profile: named,
    entry: entry ? { agentId: '@hand', profileId: name, description: 'helps', ...entry } : null,
    request,
    settings: { ...DELEGATION_DEFAULTS, ask_person },
    model: { ...chosen, window },
    known_tools: ALL_TOOLS,
    nameable_tools: ['web_search'],
    prompt_digest: 'e'.repeat(64),
  })
}

export function child(asked: ChildAsked = {}): Contract {
  const derived = tryChild(asked)
  if (!derived.ok) throw new Error(derived.message)
  return derived.contract
}

export function refusal(asked: ChildAsked): string {
  const derived = tryChild(asked)
  if (derived.ok) throw new Error('it was not refused')
  return derived.message
}

export const adjustment = (field: string, asked: string, given: string, reason: string): Adjustment => ({
  field,
  asked,
  given,
  reason,
})
