import fc from 'fast-check'
import {
  type Authority,
  type Budget,
  type Call,
  type Decision,
  ISOLATIONS,
  MODES,
  type Parent,
  type Profile,
  type Rule,
} from '../../src/domain/index.js'
import { type Asked, root, TOOLS } from './derive-lab.js'

// Any parent, any profile, any request, any call.

const GLOBS = ['**', 'src', 'src/*.ts', 'docs/**', '.']
const PATHS = ['src/a.ts', 'src/deep/b.ts', 'docs/c.md', 'x']
const MODELS = ['p/m', 'p/cheap', 'pool/fast', 'q/big', 'fast']
const PATTERNS = [...TOOLS, '*', 'git_*', 'mcp__tracker__*', 'spawn*']
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const mode = fc.constantFrom(...MODES)
/** Plan mode denies nearly everything, and of several layers the narrowest counts. */
const wideMode = fc.constantFrom<Authority['mode']>(
  'plan',
  'normal',
  'normal',
  'auto',
  'auto',
  'auto',
  'dangerous',
  'dangerous',
)

const rule: fc.Arbitrary<Rule> = fc.record({
  decision: fc.constantFrom<Decision>('allow', 'ask', 'deny'),
  tool: fc.constantFrom(...TOOLS, '*'),
  pattern: fc.option(fc.constantFrom(...GLOBS, 'git *'), { nil: null }),
})
const layers = fc.array(fc.subarray(GLOBS), { minLength: 1, maxLength: 3 })

const authority: fc.Arbitrary<Authority> = fc
  .record({
    allowed_tools: fc.subarray(TOOLS),
    allowed_skills: fc.subarray(['roofing', 'painting']),
    allowed_mcp_servers: fc.subarray(['tracker', 'db']),
    read_paths: layers,
    write_paths: layers,
    rules: fc.array(fc.record({ mode: wideMode, rules: fc.array(rule, { maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    network: fc.constantFrom<Authority['network']>('none', 'tools', 'all'),
    can_ask_person: fc.boolean(),
    unasked: fc.option(mode, { nil: null }),
    can_spawn_children: fc.constant(true),
    max_delegation_depth: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ unasked, ...value }) => ({
    ...value,
    ...(unasked === null ? {} : { unasked }),
    mode: MODES[Math.min(...value.rules.map((layer) => MODES.indexOf(layer.mode)))] as Authority['mode'],
  }))

const whole = (min: number, max: number) => fc.integer({ min, max })
const limits: fc.Arbitrary<Budget> = fc.record({
  tool_calls: whole(1, 100),
  turns: whole(1, 100),
  context_tokens: whole(1, 50_000),
  wall_ms: whole(6000, 100_000),
  total_tokens: fc.option(whole(9000, 500_000), { nil: null }),
  cost_usd: fc.option(fc.double({ min: 0.001, max: 10, noNaN: true }), { nil: null }),
  sub_agents: whole(1, 60),
})
/** Also such as are nonsense. */
const wish: fc.Arbitrary<Partial<Budget>> = fc.record(
  {
    tool_calls: fc.oneof(whole(-1, 200), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
    turns: whole(-1, 200),
    context_tokens: whole(0, 100_000),
    wall_ms: whole(4000, 200_000),
    total_tokens: fc.option(whole(0, 1_000_000), { nil: null }),
    cost_usd: fc.option(fc.double({ min: -0.1, max: 20, noNaN: true }), { nil: null }),
    sub_agents: whole(-1, 100),
  },
  { requiredKeys: [] },
)
const sensible: fc.Arbitrary<Partial<Budget>> = limits.chain((all) =>
  fc.subarray(Object.keys(all)).map((names) => pick(all, names)),
)

function pick(all: Budget, names: string[]): Partial<Budget> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

const parent: fc.Arbitrary<Parent> = fc
  .record({
    permissions: authority,
    budget: limits,
    part: fc.double({ min: 0.3, max: 1, noNaN: true }),
    depth: whole(0, 2),
    allowed: fc.subarray(['p/m', 'p/cheap', 'pool/fast'], { minLength: 1 }),
  })
  .map(({ permissions, budget, part, depth, allowed }) => {
    const contract = root()
    const rest = (limit: number | null) => (limit === null ? Number.POSITIVE_INFINITY : limit * part)
    return {
      agent_id: 'a1',
      contract: {
        ...contract,
        parent: { ...contract.parent, depth },
        permissions,
        model: { ...contract.model, allowed },
        execution: { ...contract.execution, budget, attempt_timeout_ms: budget.wall_ms },
      },
      left: {
        total_tokens: rest(budget.total_tokens),
        cost_usd: rest(budget.cost_usd),
        sub_agents: Math.floor(rest(budget.sub_agents)),
        wall_ms: rest(budget.wall_ms),
      },
    }
  })

const profile: fc.Arbitrary<Profile> = fc.record(
  {
    tools: fc.subarray(PATTERNS),
    skills: fc.subarray(['roofing', 'paint*', 'flying']),
    mcp_servers: fc.subarray(['tracker', 'd*', 'moon']),
    model: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('p/m', 'p/cheap', 'fast') }, fc.constant('q/big')),
    models: fc.subarray(MODELS, { minLength: 1 }),
    mode,
    budget: sensible,
    attempt_timeout_ms: whole(5000, 200_000),
    max_retries: whole(0, 3),
    can_spawn_children: fc.boolean(),
  },
  { requiredKeys: [] },
)

const request = fc.record(
  {
    task: fc.constant('Count the tiles'),
    tools: fc.subarray([...PATTERNS, 'fly']),
    mode,
    model: fc.constantFrom(...MODELS),
    owns: fc.array(fc.constantFrom(...GLOBS), { maxLength: 2 }),
    budget: fc.oneof({ weight: 9, arbitrary: sensible }, { weight: 1, arbitrary: wish }),
    max_retries: whole(0, 3),
  },
  { requiredKeys: ['task'] },
)

export const asked: fc.Arbitrary<Asked> = fc.record({
  parent,
  profile: optional(profile),
  request,
  settings: fc.record({ ask_person: fc.boolean() }),
  window: fc.option(whole(1, 60_000), { nil: null }),
}) as fc.Arbitrary<Asked>

/** The same with a wish for where it works. */
export const placed: fc.Arbitrary<Asked> = fc
  .tuple(asked, optional(fc.constantFrom(...ISOLATIONS)), fc.boolean())
  .map(([asked, isolation, byProfile]) => {
    if (isolation === undefined) return asked
    if (byProfile) return { ...asked, profile: { ...asked.profile, isolation } }
    return { ...asked, request: { ...asked.request, isolation } }
  })

const path = fc.record({ path: fc.constantFrom(...PATHS), access: fc.constantFrom<'read' | 'write'>('read', 'write') })
const words = (...list: string[]) => ({
  kind: 'command' as const,
  words: list,
  spelled: [],
  hides: false,
  rides: false,
})
export const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    tool: fc.constant('read_file'),
    effect: fc.constant('read' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constant('write_file'),
    effect: fc.constant('write' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constant('run_command'),
    effect: fc.constant('execute' as const),
    paths: fc.constant([]),
    commands: fc.option(fc.array(fc.constantFrom(words('git', 'log'), words('rm', 'x')), { maxLength: 2 }), {
      nil: null,
    }),
    sandboxed: fc.boolean(),
  }),
  fc.record({
    tool: fc.constant('read_file'),
    effect: fc.constant('fetch' as const),
    paths: fc.constant([]),
    address: fc.constant('example.org'),
  }),
  fc.record({
    tool: fc.constant('mcp__db__query'),
    effect: fc.constant('external' as const),
    paths: fc.constant([]),
    server: fc.constant('db'),
  }),
  fc.record({
    tool: fc.constantFrom('spawn', 'delegate_task'),
    effect: fc.constant('delegate' as const),
    paths: fc.constant([]),
    depth: whole(0, 3),
  }),
  fc.record({ tool: fc.constant('ask_user'), effect: fc.constant('ask_person' as const), paths: fc.constant([]) }),
)

/** Calls that change files, or run what might. */
export const writing = call.filter(({ effect, paths, sandboxed }) => {
  if (effect === 'execute') return sandboxed !== false
  return effect === 'write' && paths.some(({ access }) => access === 'write')
})
