import type { Profile } from '../../domain/index.js'
import type { FoundProfile } from '../profiles/found.js'
import { ROLE_PROMPTS, type RoleName } from './prompts.js'

const LOOK = ['read_file', 'list_dir', 'find_files', 'search_files', 'overview', 'read_output']
const WRITE = ['write_file', 'edit_file']
const RUN = ['run_command', 'run_tests']
const HISTORY = ['git_status', 'git_diff', 'git_log']
const DELEGATE = ['spawn', 'spawn_await', 'spawn_agent', 'delegate_task']

/** What each may do at most; the figures are the seed's. `context_chars`: what its requests may have, whatever its model. */
type Bounds = Pick<Profile, 'mode' | 'write_paths' | 'may_spawn'> & {
  tools: string[]
  tool_calls: number
  context_chars: number
  context_share: number
}

const CHARS_PER_TOKEN = 4

/** More than a sub-agent has by default: a role does a whole piece of work. */
const WALL_MS = 300_000

/** The five profiles that ship. They only narrow, as every profile does, so whoever may delegate may use them. */
export function roleProfiles({ test_paths }: { test_paths: string[] }): FoundProfile[] {
  const roles: Record<RoleName, Bounds> = {
    researcher: {
      tools: [...LOOK, 'git_log', 'git_diff', 'web_search', 'web_fetch', 'load_skill'],
      mode: 'plan',
      ...{ tool_calls: 15, context_chars: 50_000, context_share: 25 },
    },
    planner: {
      tools: [...LOOK],
      mode: 'plan',
      ...{ tool_calls: 10, context_chars: 30_000, context_share: 15 },
    },
    executor: {
      tools: [...LOOK, ...WRITE, ...RUN, ...HISTORY, 'git_commit', 'load_skill', ...DELEGATE],
      may_spawn: ['reviewer'],
      ...{ tool_calls: 30, context_chars: 80_000, context_share: 50 },
    },
    reviewer: {
      tools: [...LOOK, ...RUN, ...HISTORY, 'load_skill'],
      write_paths: [],
      ...{ tool_calls: 15, context_chars: 50_000, context_share: 20 },
    },
    tester: {
      tools: [...LOOK, ...WRITE, ...RUN, 'load_skill', ...DELEGATE],
      write_paths: [...test_paths],
      may_spawn: ['reviewer'],
      ...{ tool_calls: 20, context_chars: 50_000, context_share: 25 },
    },
  }
  return Object.entries(roles).map(([name, bounds]) => {
    const profile = profileOf(name as RoleName, bounds)
    return { name, source: { kind: 'role' }, notes: [], kept: {}, profile, fault: null }
  })
}

function profileOf(name: RoleName, { tool_calls, context_chars, context_share, ...bounds }: Bounds): Profile {
  return {
    ...ROLE_PROMPTS[name],
    ...bounds,
    // Nobody is told of skills and servers that they have no tool for.
    ...(bounds.tools.includes('load_skill') ? {} : { skills: [] }),
    mcp_servers: [],
    budget: { tool_calls, context_tokens: context_chars / CHARS_PER_TOKEN, wall_ms: WALL_MS },
    context_share,
    can_spawn_children: bounds.may_spawn !== undefined,
  }
}
