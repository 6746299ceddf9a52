import {
  type Authority,
  allowedUnasked,
  type Call,
  type Contract,
  chooseChildModel,
  DELEGATION_DEFAULTS,
  DELEGATION_TOOLS,
  type Decision,
  type DelegationRequest,
  type DelegationSettings,
  type Derivation,
  deriveContract,
  type Parent,
  type Profile,
  permits,
  type RootRequest,
  rootContract,
} from '../../src/domain/index.js'
import { fresh } from './deriving.js'

/** The tools that every agent may have; of the others a contract says who may. */
export const FILES = [
  'read_file',
  'write_file',
  'run_command',
  'git_status',
  'git_diff',
  'mcp__tracker__list',
  'mcp__db__query',
]
export const TOOLS = [...FILES, 'ask_user', ...DELEGATION_TOOLS]

export const DELEGATION = { enabled: true, max_depth: 2, models: ['p/cheap', 'fast'] }
export const REQUEST: RootRequest = {
  run_id: 'r1',
  task: 'Mend the roof',
  prompt_digest: 'd'.repeat(64),
  model: { provider: 'p', model: 'm', source: 'user', window: null },
  mode: 'normal',
  rules: [],
  known_tools: TOOLS,
  nameable_tools: TOOLS,
  known_servers: ['tracker', 'db'],
  known_skills: ['roofing', 'painting'],
  budget: {},
  delegation: DELEGATION,
  can_ask_person: true,
  base: 'c0ffee',
}

export function root(changes: Partial<RootRequest> = {}): Contract {
  const made = rootContract({ ...REQUEST, ...changes })
  if (!made.ok) throw new Error(made.faults.join())
  return made.contract
}

export type Asked = {
  parent?: Parent
  profile?: Profile
  request?: Partial<DelegationRequest>
  settings?: Partial<DelegationSettings>
  window?: number | null
  least_tokens?: number
  least_usd?: number
  known_tools?: string[]
  nameable_tools?: string[]
}

/** A sub-agent's contract from what is asked for, and all the rest as it usually is. */
export function derive(asking: Asked = {}) {
  const {
    parent = fresh(root()),
    profile,
    request,
    settings,
    window = null,
    least_tokens,
    least_usd,
    ...tools
  } = asking
  const least = {
    ...(least_tokens === undefined ? {} : { least_tokens }),
    ...(least_usd === undefined ? {} : { least_usd }),
  }
  const named = profile ? { name: 'helper', profile, digest: 'f'.repeat(64) } : null
  const asked = { task: 'Count the tiles\nand report', ...request }
  const chosen = chooseChildModel(parent.contract, named, asked)
  if (!chosen.ok) return chosen
  const derivation: Derivation = {
    parent,
    child: { id: 'a1', step_idx: 0 },
    profile: named,
    request: asked,
    settings: { ...DELEGATION_DEFAULTS, ...settings },
    model: { ...chosen, window, ...least },
    known_tools: TOOLS,
    prompt_digest: 'e'.repeat(64),
    ...tools,
  }
  return deriveContract(derivation)
}

export function child(asked: Asked = {}): Contract {
  const derived = derive(asked)
  if (!derived.ok) throw new Error(derived.message)
  return derived.contract
}

export function refusal(asked: Asked): string {
  const derived = derive(asked)
  if (derived.ok) throw new Error('it was not refused')
  return derived.message
}

/** What really becomes of a call: a question that nobody can be asked is answered by the contract. */
export function effective(authority: Authority, call: Call): Decision {
  const { decision, by } = permits(authority, call)
  if (decision !== 'ask' || authority.can_ask_person) return decision
  return by === 'mode' && allowedUnasked(authority, call) ? 'allow' : 'deny'
}
