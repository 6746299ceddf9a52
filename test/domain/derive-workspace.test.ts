import { describe, expect, it } from 'vitest'
import {
  type Authority,
  type Contract,
  checkSchema,
  chooseChildModel,
  DELEGATION_DEFAULTS,
  DELEGATION_TOOLS,
  type DelegationRequest,
  type Derivation,
  deriveContract,
  mayWrite,
  type Profile,
  parseRule,
  type RootRequest,
  rootContract,
  unenforceable,
  WORKSPACE_DEFAULTS,
  type WorkspaceSettings,
  WRITING_TOOLS,
} from '../../src/domain/index.js'
import { builtinTools } from '../../src/tools/index.js'

const READING = ['read_file', 'git_diff', 'mcp__db__query']
const TOOLS = [...READING, ...WRITING_TOOLS, ...DELEGATION_TOOLS]

type Asked = {
  root?: Partial<RootRequest>
  profile?: Profile
  request?: Partial<DelegationRequest>
  workspace?: Partial<WorkspaceSettings>
  ask_person?: boolean
}

function rules(...allowed: string[]): RootRequest['rules'] {
  return allowed.map((text) => {
    const parsed = parseRule('allow', text)
    if (!parsed.ok) throw new Error(parsed.message)
    return parsed.rule
  })
}

function lead(changes: Partial<RootRequest> = {}): Contract {
  const made = rootContract({
    run_id: 'r1',
    task: 'Mend the roof',
    prompt_digest: 'd'.repeat(64),
    model: { provider: 'p', model: 'm', source: 'user', window: null },
    mode: 'auto',
    rules: [],
    known_tools: TOOLS,
    nameable_tools: TOOLS,
    known_servers: ['db'],
    known_skills: [],
    budget: {},
    delegation: { enabled: true, max_depth: 2, models: [] },
    can_ask_person: true,
    base: null,
    ...changes,
  })
  if (!made.ok) throw new Error(made.faults.join())
  return made.contract
}

function below(contract: Contract, { profile, request, workspace, ask_person = false }: Asked = {}): Contract {
  const { total_tokens, sub_agents, wall_ms } = contract.execution.budget
  const left = { total_tokens: total_tokens ?? Infinity, cost_usd: Infinity, sub_agents, wall_ms }
  const named = profile ? { name: 'helper', profile, digest: 'f'.repeat(64) } : null
  const asked = { task: 'Count the tiles', ...request }
  const chosen = chooseChildModel(contract, named, asked)
  if (!chosen.ok) throw new Error(chosen.message)
  const derivation: Derivation = {
    parent: { agent_id: 'root', contract, left },
    child: { id: 'a1', step_idx: 0 },
    profile: named,
    request: asked,
    settings: { ...DELEGATION_DEFAULTS, ask_person },
    model: { ...chosen, window: null },
    known_tools: TOOLS,
    prompt_digest: 'e'.repeat(64),
    ...(workspace ? { workspace: { ...WORKSPACE_DEFAULTS, ...workspace } } : {}),
  }
  const derived = deriveContract(derivation)
  if (!derived.ok) throw new Error(derived.message)
  return derived.contract
}

const child = (asked: Asked = {}) => below(lead(asked.root), asked)
const isolationOf = (asked: Asked) => child(asked).workspace.isolation

it('the tools that write are those that say so of themselves', () => {
  const writing = builtinTools().filter(({ effect }) => effect === 'write' || effect === 'execute')
  expect(writing.map(({ name }) => name).sort()).toEqual([...WRITING_TOOLS].sort())
})

describe('a sub-agent that may write', () => {
  it.each<[string, Asked]>([
    ['in auto mode', {}],
    ['in dangerous mode', { root: { mode: 'dangerous' } }],
    ['in normal mode below one that need not ask', { request: { mode: 'normal' } }],
    ['where a person can be asked', { root: { mode: 'normal' }, ask_person: true }],
    ['by a rule for a tool', { root: { mode: 'normal', rules: rules('write_file(docs/**)') } }],
    ['by a rule for all tools', { root: { mode: 'normal', rules: rules('*') } }],
    ['with commands alone', { request: { tools: ['run_command'] } }],
    ['with a part of the folder', { request: { owns: ['docs'] } }],
  ])('%s has a worktree', (_, asked) => {
    expect(isolationOf(asked)).toBe('worktree')
    expect(child(asked).adjustments).toEqual([])
  })

  it('shares the folder where the settings say so', () => {
    expect(isolationOf({ workspace: { isolation: 'shared' } })).toBe('shared')
    expect(isolationOf({ workspace: { isolation: 'worktree' } })).toBe('worktree')
  })
})

describe('a sub-agent that may write nothing', () => {
  it.each<[string, Asked]>([
    ['in plan mode', { request: { mode: 'plan' } }],
    ['in normal mode, where nobody can be asked', { root: { mode: 'normal' } }],
    ['with a rule for reading alone', { root: { mode: 'normal', rules: rules('read_file', 'mcp__*') } }],
    [
      'with a rule for a tool that it has not',
      { root: { mode: 'normal', rules: rules('write_file') }, request: { tools: ['read_file', 'edit_file'] } },
    ],
    [
      'in a narrower mode than the rule was made for',
      { root: { mode: 'normal', rules: rules('write_file'), can_ask_person: false }, request: { mode: 'plan' } },
    ],
    ['without a tool for it', { request: { tools: READING } }],
    ['that owns nothing', { request: { owns: [] } }],
    ['whose parent owns nothing', { root: { write_paths: [['**'], []] } }],
  ])('%s reads only', (_, asked) => {
    const contract = child(asked)
    expect(contract.workspace.isolation).toBe('read_only')
    expect(mayWrite(contract)).toBe(false)
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
    // Whatever the settings say: there is nothing to share.
    expect(isolationOf({ ...asked, workspace: { isolation: 'shared' } })).toBe('read_only')
  })
})

describe('a wish for isolation', () => {
  const wish = (isolation: Profile['isolation'], from: 'profile' | 'request'): Asked =>
    isolation === undefined ? {} : { [from]: { isolation } }

  it.each(['profile', 'request'] as const)('of a %s narrows', (from) => {
    expect(isolationOf({ ...wish('worktree', from), workspace: { isolation: 'shared' } })).toBe('worktree')
    expect(isolationOf({ ...wish('shared', from), workspace: { isolation: 'shared' } })).toBe('shared')
    expect(isolationOf({ ...wish('read_only', from), workspace: { isolation: 'shared' } })).toBe('read_only')
  })

  it.each(['profile', 'request'] as const)('of a %s does not widen, and it is said', (from) => {
    const contract = child(wish('shared', from))
    expect(contract.workspace.isolation).toBe('worktree')
    const reason = 'workspace.isolation in the configuration is worktree'
    expect(contract.adjustments).toEqual([{ field: 'workspace.isolation', asked: 'shared', given: 'worktree', reason }])
  })

  it('of a request goes no further than the profile', () => {
    const contract = child({
      profile: { isolation: 'worktree' },
      request: { isolation: 'shared' },
      workspace: { isolation: 'shared' },
    })
    const reason = 'the profile helper says worktree'
    expect(contract.workspace.isolation).toBe('worktree')
    expect(contract.adjustments).toEqual([{ field: 'workspace.isolation', asked: 'shared', given: 'worktree', reason }])
  })

  it('gives no tree to one that can write nothing', () => {
    const contract = child({ profile: { isolation: 'worktree', mode: 'plan' } })
    const reason = 'it can write nothing'
    expect(contract.adjustments).toEqual([
      { field: 'workspace.isolation', asked: 'worktree', given: 'read_only', reason },
    ])
  })

  it.each(['profile', 'request'] as const)(
    'to read only, of a %s, takes away what writes, and nothing else',
    (from) => {
      const contract = child(wish('read_only', from))
      expect(contract.permissions.allowed_tools).toEqual(READING)
      expect(contract.permissions.write_paths).toEqual([['**'], []])
      // It is what was asked for.
      expect(contract.adjustments).toEqual([])
      for (const sandboxed of [true, false]) expect(unenforceable(contract, { sandboxed, priced: true })).toEqual([])
    },
  )

  it('to read only says which further wishes it leaves open', () => {
    const contract = child({
      profile: { isolation: 'read_only' },
      request: { tools: ['read_file', 'run_command'], owns: ['docs'] },
    })
    const reason = 'the profile helper only reads'
    expect(contract.permissions.allowed_tools).toEqual(['read_file'])
    expect(contract.adjustments).toEqual([
      { field: 'permissions.allowed_tools', asked: 'run_command', given: 'none', reason },
      { field: 'permissions.write_paths', asked: 'docs', given: 'none', reason },
    ])
  })

  it('to read only holds for those below, too', () => {
    const reader = child({ profile: { isolation: 'read_only', can_spawn_children: true } })
    expect(reader.permissions.can_spawn_children).toBe(true)
    const lower = below(reader, { request: { owns: ['**'], tools: ['*'] }, workspace: { isolation: 'shared' } })
    expect(lower.workspace.isolation).toBe('read_only')
    expect(lower.permissions.allowed_tools).toEqual(READING)
  })
})

describe('a contract to read only', () => {
  const told = (changes: Partial<Authority>, around = { sandboxed: true }, owns = ['**']) => {
    const contract = lead()
    const permissions = { ...contract.permissions, ...changes }
    const workspace = { ...contract.workspace, isolation: 'read_only' as const, owns }
    return unenforceable({ ...contract, permissions, workspace }, { ...around, priced: true })
  }
  const refused = (tools: string) => [
    `workspace isolation read_only cannot be enforced on ${tools}: use plan mode, take the tools away, or give it nothing to write and a sandbox`,
  ]

  it('is refused where something could write', () => {
    expect(told({})).toEqual(refused('write_file and edit_file and git_commit and run_command and run_tests'))
    expect(told({ allowed_tools: ['read_file', 'edit_file'] })).toEqual(refused('edit_file'))
  })

  it('is taken in plan mode, without tools to write with, and with nothing to write behind a sandbox', () => {
    expect(told({ mode: 'plan' })).toEqual([])
    expect(told({ allowed_tools: READING })).toEqual([])
    expect(told({ write_paths: [['**'], []] })).toEqual([])
    expect(told({}, { sandboxed: true }, [])).toEqual([])
  })

  it('is refused without a sandbox to commands that a person may let run, or nobody asks about', () => {
    const unfenced = { sandboxed: false }
    expect(told({}, unfenced, [])).toEqual(refused('run_command and run_tests'))
    expect(told({ allowed_tools: ['write_file'] }, unfenced, [])).toEqual([])
    expect(told({ can_ask_person: false }, unfenced, [])).toEqual([])
    expect(told({ mode: 'dangerous', can_ask_person: false }, unfenced, [])).toContain(
      refused('run_command and run_tests')[0],
    )
  })

  it('is the only one that is looked at: trees of their own and shared ones can be had', () => {
    const contract = lead()
    for (const isolation of ['worktree', 'shared'] as const) {
      const changed = { ...contract, workspace: { ...contract.workspace, isolation } }
      expect(unenforceable(changed, { sandboxed: true, priced: true })).toEqual([])
    }
  })
})

describe('a check of paths', () => {
  const faults = (check: object) =>
    checkSchema.safeParse({ kind: 'paths', ...check }).error?.issues.map(({ message }) => message) ?? []

  it.each([{ exist: ['dist/*.js'] }, { unchanged: ['test'] }, { exist: [], unchanged: ['a/**'] }])(
    'can be %j',
    (check) => expect(faults(check)).toEqual([]),
  )

  const nothing = 'a check of paths says what must exist or be unchanged: give at least one path'
  it.each([
    [{}, nothing],
    [{ exist: [], unchanged: [] }, nothing],
    [{ exist: ['/etc/passwd'] }, '"/etc/passwd" in exist is not relative to the workspace'],
    [{ unchanged: ['../x'] }, '"../x" in unchanged leaves the workspace: .. is not allowed'],
    [{ exist: ['!a'] }, '"!a" in exist negates: list what is meant instead'],
    [{ exist: ['a', ''] }, 'an empty path in exist names nothing: write . for the whole workspace'],
    [{ unchanged: ['a'.repeat(501)] }, 'a path in unchanged is longer than 500 characters'],
  ])('cannot be %j', (check, message) => {
    expect(faults(check)).toEqual([message])
  })

  it('that makes no sense is no part of a contract', () => {
    expect(() => child({ request: { checks: [{ kind: 'paths', exist: ['../x'] }] } })).toThrow(
      'Not spawned: step.checks.0.exist.0: "../x" in exist leaves the workspace: .. is not allowed.',
    )
    const checks = [{ kind: 'paths' as const, exist: ['dist'] }]
    expect(child({ request: { checks } }).step.checks).toEqual(checks)
  })
})
