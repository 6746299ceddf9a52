import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Authority,
  allowedUnasked,
  type Budget,
  type Call,
  type Contract,
  contractSchema,
  DELEGATION_TOOLS,
  type Decision,
  ISOLATIONS,
  MODES,
  matchesGlob,
  matchesWord,
  mayWrite,
  type Profile,
  permits,
  type RegistryEntry,
  unenforceable,
} from '../../src/domain/index.js'
import '../support/seed.ts'
import { ALL_TOOLS, type ChildAsked, type RootAsked, root, tryChild, tryRoot } from './deriving.js'

// What is drawn: profiles, entries and requests as they could be written, over a small world in which they often meet.

const GLOBS = ['**', 'src', 'src/*.ts', 'docs/**', '.']
const PATHS = ['src/a.ts', 'src/deep/b.ts', 'docs/c.md', 'x']
const MODELS = ['p/m', 'p/cheap', 'fast', 'q/big']
const SKILLS = ['roofing', 'painting', 'tiling', 'paint*', 'flying', '*']
const SERVERS = ['tracker', 'db', 'd*', 'moon', '*']
const PROFILES = ['helper', 'reviewer', '@hand']
const TOOLS = [...ALL_TOOLS, '*', 'run_*', 'mcp__tracker__*', 'spawn*']
const PATTERNED = [
  'run_command(git *)',
  'run_command(git log *)',
  'run_*(npm test)',
  'read_file(src)',
  'write_file(docs/**)',
  'web_fetch(example.org/**)',
  '*(src/*.ts)',
]
const RULES = [...PATTERNED, 'run_command', 'write_file', 'mcp__db__*', 'web_fetch']

const some = (list: string[]) => fc.subarray(list)
/** Often nearly everything, because what is drawn thinly three times over is nothing. */
const most = (list: string[]) =>
  fc.oneof(some(list), fc.subarray(list, { minLength: Math.ceil(list.length / 2) }), fc.constant(list))
const whole = (min: number, max: number) => fc.integer({ min, max })
const mode = fc.constantFrom<Authority['mode']>('plan', 'normal', 'normal', 'auto', 'auto', 'dangerous', 'dangerous')

const limits: fc.Arbitrary<Partial<Budget>> = fc.record(
  {
    tool_calls: whole(1, 400),
    turns: whole(1, 200),
    context_tokens: whole(1, 150_000),
    wall_ms: whole(6000, 100_000),
    total_tokens: fc.option(whole(9000, 6_000_000), { nil: null }),
    cost_usd: fc.option(fc.double({ min: 0.001, max: 10, noNaN: true }), { nil: null }),
    sub_agents: whole(0, 200),
  },
  { requiredKeys: [] },
)
const tools = fc.tuple(most(TOOLS), some(PATTERNED)).map(([plain, patterned]) => [...plain, ...patterned])
const someTools = fc.oneof(
  tools,
  fc.tuple(some(PATTERNED), some(['read_file', 'spawn', 'write_file'])).map((l) => l.flat()),
)

const profile: fc.Arbitrary<Profile> = fc.record(
  {
    tools: someTools,
    deny: fc.subarray(RULES, { maxLength: 2 }),
    ask: fc.subarray(RULES, { maxLength: 2 }),
    read_paths: fc.subarray(GLOBS, { minLength: 1 }),
    write_paths: some(GLOBS),
    skills: most(SKILLS),
    mcp_servers: most(SERVERS),
    model: fc.constantFrom(...MODELS.slice(0, 3)),
    models: most(MODELS),
    mode,
    isolation: fc.constantFrom(...ISOLATIONS),
    budget: limits,
    context_share: whole(1, 100),
    can_spawn_children: fc.constantFrom(true, true, false),
    may_spawn: most(PROFILES),
  },
  { requiredKeys: [] },
)
const entry: fc.Arbitrary<Partial<RegistryEntry>> = fc.record(
  {
    defaultForwardSkills: most(SKILLS.slice(0, 5).map((name) => `skill:${name}`)),
    allowedForwardSkills: most(SKILLS.map((name) => `skill:${name}`)),
    defaultMcpServers: most(SERVERS.map((name) => `mcp:${name}`)),
    allowedMcpServers: most(SERVERS.map((name) => `mcp:${name}`)),
  },
  { requiredKeys: [] },
)
const request = fc.record(
  {
    tools: someTools,
    mode,
    model: fc.constantFrom(...MODELS),
    skills: most(SKILLS),
    mcp_servers: most(SERVERS),
    owns: some(GLOBS),
    isolation: fc.constantFrom(...ISOLATIONS),
    budget: limits,
  },
  { requiredKeys: [] },
)
const window = fc.option(whole(1, 400_000), { nil: null })
const run: fc.Arbitrary<RootAsked> = fc.record(
  { mode, tools: most(ALL_TOOLS), skills: some(SKILLS), budget: limits, can_ask_person: fc.boolean() },
  { requiredKeys: [] },
)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const asked: fc.Arbitrary<ChildAsked> = fc.record({
  name: fc.constantFrom('helper', 'reviewer'),
  profile: optional(profile),
  entry: optional(entry),
  request,
  ask_person: fc.boolean(),
  window,
})

const path = fc.record({ path: fc.constantFrom(...PATHS), access: fc.constantFrom<'read' | 'write'>('read', 'write') })
const command = (...words: string[]) => ({
  ...({ kind: 'command', words, spelled: [], hides: false, rides: false } as const),
})
const commands = fc.option(
  fc.subarray([command('git', 'log'), command('git', 'push'), command('npm', 'test'), command('rm', 'x')], {
    ...{ minLength: 1, maxLength: 2 },
  }),
  { nil: null },
)
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    tool: fc.constantFrom('read_file', 'search_files'),
    effect: fc.constant('read' as const),
    paths: fc.array(
      path.map((one) => ({ ...one, access: 'read' as const })),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    tool: fc.constantFrom('write_file', 'edit_file'),
    effect: fc.constant('write' as const),
    paths: fc.array(path, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constantFrom('run_command', 'run_tests'),
    effect: fc.constant('execute' as const),
    paths: fc.constant([]),
    commands,
    sandboxed: fc.boolean(),
  }),
  fc.record({
    tool: fc.constant('web_fetch'),
    effect: fc.constant('fetch' as const),
    paths: fc.constant([]),
    address: fc.constantFrom('example.org/a', 'other.org'),
  }),
  fc.record({
    tool: fc.constant('load_skill'),
    effect: fc.constant('read' as const),
    paths: fc.constant([]),
    skill: fc.constantFrom('roofing', 'painting', 'tiling'),
  }),
  fc.record({
    tool: fc.constant('mcp__db__query'),
    effect: fc.constant('external' as const),
    paths: fc.constant([]),
    server: fc.constant('db'),
  }),
  fc.record({
    tool: fc.constantFrom('spawn', 'ask_user'),
    effect: fc.constant('delegate' as const),
    paths: fc.constant([]),
  }),
)
const calls = fc.array(call, { minLength: 4, maxLength: 10 })

// What a profile says, read a second time and simply: there is nothing in this world that hides, rides or is spelled.

type Said = { tool: string; pattern: string | null }

function said(text: string): Said {
  const [tool = '', pattern] = text.replace(/\)$/, '').split(/\((.*)/s)
  return { tool, pattern: pattern ?? null }
}

function isNamed(list: readonly string[] | undefined, name: string): boolean {
  return list === undefined || list.some((one) => matchesWord(one.replace(/^(?:skill|mcp):/, ''), name))
}

/** Each part of a call, as a text that a pattern is matched with; null where it is none. */
function partsOf(call: Call): ((pattern: string) => boolean)[] {
  if (call.commands === null) return [() => false]
  if (call.commands) {
    return call.commands.map((part) => (pattern) => {
      const line = part.kind === 'command' ? part.words.join(' ') : ''
      return matchesWord(pattern, line) || matchesWord(pattern, `${line} `)
    })
  }
  const texts = call.address === undefined ? call.paths.map((one) => one.path) : [call.address]
  return texts.length === 0 ? [() => false] : texts.map((text) => (pattern) => matchesGlob(pattern, text))
}

function isListed(list: readonly string[] | undefined, call: Call): boolean {
  if (list === undefined) return true
  const entries = list.map(said).filter(({ tool }) => matchesWord(tool, call.tool))
  if (entries.some(({ pattern }) => pattern === null)) return true
  return entries.length > 0 && partsOf(call).every((part) => entries.some(({ pattern }) => part(pattern as string)))
}

function isMeant(list: readonly string[] | undefined, call: Call): boolean {
  return (list ?? []).map(said).some(({ tool, pattern }) => {
    if (!matchesWord(tool, call.tool)) return false
    return pattern === null || call.commands === null || partsOf(call).some((part) => part(pattern))
  })
}

/** The most that a profile by itself lets become of a call. */
function mostBy(profile: Profile, call: Call): Decision {
  const { read_paths = ['**'], write_paths = ['**'] } = profile
  const inPaths = call.paths.every(({ path, access }) =>
    (access === 'write' ? write_paths : read_paths).some((glob) => matchesGlob(glob, path)),
  )
  const reads = profile.isolation === 'read_only' && ['write', 'execute'].includes(call.effect)
  const plans = profile.mode === 'plan' && !['read', 'fetch'].includes(call.effect)
  const hasServer = call.server === undefined || isNamed(profile.mcp_servers, call.server)
  const hasSkill = call.skill === undefined || isNamed(profile.skills, call.skill)
  const spawns = !DELEGATION_TOOLS.includes(call.tool) || profile.can_spawn_children !== false
  const may = isListed(profile.tools, call) && inPaths && !reads && !plans && hasServer && hasSkill && spawns
  if (!may || isMeant(profile.deny, call)) return 'deny'
  return isMeant(profile.ask, call) ? 'ask' : 'allow'
}

const WIDTH: Record<Decision, number> = { deny: 0, ask: 1, allow: 2 }

/** What really becomes of a call: a question that nobody can be asked is answered by the contract. */
function effective(authority: Authority, call: Call): Decision {
  const { decision, by } = permits(authority, call)
  if (decision !== 'ask' || authority.can_ask_person) return decision
  return by === 'mode' && allowedUnasked(authority, call) ? 'allow' : 'deny'
}

const within = (list: readonly string[], whole: readonly string[]) =>
  expect(whole).toEqual(expect.arrayContaining([...list]))

const canonical = (name: string) => (name.includes('/') ? name : `pool/${name}`)

function insideParent({ permissions: a, model, execution }: Contract, above: Contract): void {
  const b = above.permissions
  within(a.allowed_tools, b.allowed_tools)
  within(a.allowed_skills, b.allowed_skills)
  within(a.allowed_mcp_servers, b.allowed_mcp_servers)
  within([...model.allowed, `${model.provider}/${model.model}`], above.model.allowed)
  for (const name of ['read_paths', 'write_paths', 'rules'] as const) {
    for (const layer of b[name]) expect(a[name]).toContainEqual(layer)
  }
  for (const layer of b.allowed_calls ?? []) expect(a.allowed_calls).toContainEqual(layer)
  if (b.allowed_profiles) within(a.allowed_profiles ?? ['everybody'], b.allowed_profiles)
  expect(MODES.indexOf(a.mode)).toBeLessThanOrEqual(MODES.indexOf(b.mode))
  for (const [name, limit] of Object.entries(execution.budget) as [keyof Budget, number | null][]) {
    expect(limit ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
      above.execution.budget[name] ?? Number.POSITIVE_INFINITY,
    )
  }
}

function insideProfile(contract: Contract, profile: Profile, window: number | null): void {
  const { permissions, model, execution, workspace } = contract
  for (const tool of permissions.allowed_tools) {
    if (profile.tools) expect(profile.tools.some((text) => matchesWord(said(text).tool, tool))).toBe(true)
  }
  for (const name of permissions.allowed_skills) expect(isNamed(profile.skills, name)).toBe(true)
  for (const name of permissions.allowed_mcp_servers) expect(isNamed(profile.mcp_servers, name)).toBe(true)
  if (profile.model !== undefined || profile.models !== undefined) {
    const policy = [profile.model ?? [], profile.models ?? []].flat().map(canonical)
    within([...model.allowed, `${model.provider}/${model.model}`], policy)
  }
  if (profile.mode) expect(MODES.indexOf(permissions.mode)).toBeLessThanOrEqual(MODES.indexOf(profile.mode))
  if (profile.may_spawn) within(permissions.allowed_profiles ?? ['everybody'], profile.may_spawn)
  if (profile.can_spawn_children === false || profile.may_spawn?.length === 0) {
    expect(permissions.can_spawn_children).toBe(false)
  }
  const share = window === null ? 0 : Math.min(50_000, ((profile.context_share ?? 0) / 100) * window)
  for (const [name, limit] of Object.entries(profile.budget ?? {}) as [keyof Budget, number | null][]) {
    const most = name === 'context_tokens' ? Math.max(limit as number, share) : limit
    expect(execution.budget[name] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(most ?? Number.POSITIVE_INFINITY)
  }
  const place = profile.isolation ?? 'shared'
  expect(ISOLATIONS.indexOf(workspace.isolation)).toBeLessThanOrEqual(ISOLATIONS.indexOf(place))
}

function sound(contract: Contract): void {
  expect(contractSchema.safeParse(contract).success).toBe(true)
  const faults = unenforceable(contract, { sandboxed: true, priced: true })
  expect(faults.filter((fault) => fault.includes('read_only'))).toEqual([])
}

describe('whatever a profile, the registry and a request say', () => {
  it('a sub-agent is inside its parent, its profile and its entry, and so is the next one', () => {
    const seen = { children: 0, below: 0, layered: 0, allowed: 0, refused: 0 }
    fc.assert(
      fc.property(run, optional(profile), asked, asked, calls, (given, lead, first, second, calls) => {
        const made = tryRoot({
          ...given,
          ...(lead ? { profile: { ...lead, model: undefined, models: undefined } as Profile } : {}),
        })
        fc.pre(made.ok)
        let above = made.contract
        for (const [level, asking] of [first, second].entries()) {
          const derived = tryChild({ ...asking, above })
          if (!derived.ok) return
          const { contract } = derived
          seen[level === 0 ? 'children' : 'below'] += 1
          sound(contract)
          insideParent(contract, above)
          if (asking.profile) insideProfile(contract, asking.profile, asking.window ?? null)
          for (const name of contract.permissions.allowed_skills) {
            expect(isNamed(asking.entry?.allowedForwardSkills, name)).toBe(true)
            expect(isNamed(asking.request?.skills ?? asking.entry?.defaultForwardSkills, name)).toBe(true)
          }
          for (const name of contract.permissions.allowed_mcp_servers) {
            expect(isNamed(asking.entry?.allowedMcpServers, name)).toBe(true)
            expect(isNamed(asking.request?.mcp_servers ?? asking.entry?.defaultMcpServers, name)).toBe(true)
          }
          if (contract.permissions.allowed_calls) seen.layered += 1
          expect(contract.workspace.isolation === 'read_only').toBe(!mayWrite(contract))
          for (const call of calls) {
            const { decision } = permits(contract.permissions, call)
            const done = effective(contract.permissions, call)
            expect(WIDTH[decision]).toBeLessThanOrEqual(WIDTH[permits(above.permissions, call).decision])
            expect(WIDTH[done]).toBeLessThanOrEqual(WIDTH[effective(above.permissions, call)])
            if (asking.profile) expect(WIDTH[decision]).toBeLessThanOrEqual(WIDTH[mostBy(asking.profile, call)])
            if (!isListed(asking.request?.tools, call)) expect(decision).toBe('deny')
            seen[decision === 'deny' ? 'refused' : 'allowed'] += 1
          }
          above = contract
        }
      }),
      { numRuns: 1500 },
    )
    // Properties of nothing are no properties.
    expect(seen.children).toBeGreaterThan(300)
    expect(seen.below).toBeGreaterThan(30)
    expect(seen.layered).toBeGreaterThan(100)
    expect(seen.allowed).toBeGreaterThan(500)
    expect(seen.refused).toBeGreaterThan(500)
  }, 180_000)

  it('a root agent is inside its run, its profile and its entry', () => {
    const seen = { made: 0, allowed: 0 }
    fc.assert(
      fc.property(run, profile, optional(entry), window, calls, (given, as, by, window, calls) => {
        const full = by && { agentId: '@hand', profileId: 'helper', description: 'helps', ...by }
        const [model = 'p/m'] = [as.model ?? as.models ?? []].flat().map(canonical)
        const [provider = '', name = ''] = model.split('/')
        const side: RootAsked = { ...given, model: { provider, model: name, source: 'profile', window } }
        const made = tryRoot({ ...side, profile: as, ...(full ? { entry: full } : {}) })
        // Nothing of what is drawn is refused, but a list of no models.
        if (!made.ok) expect(as).toMatchObject({ models: [] })
        fc.pre(made.ok)
        const { contract } = made
        const plain = root(side)
        seen.made += 1
        sound(contract)
        // A mode that the profile narrows is that of the layer of the run itself.
        const rules = plain.permissions.rules.map((layer) => ({ ...layer, mode: contract.permissions.mode }))
        insideParent(contract, { ...plain, permissions: { ...plain.permissions, rules } })
        insideProfile(contract, as, window)
        for (const name of contract.permissions.allowed_skills) {
          expect(isNamed(by?.allowedForwardSkills, name) && isNamed(by?.defaultForwardSkills, name)).toBe(true)
        }
        for (const call of calls) {
          const { decision } = permits(contract.permissions, call)
          expect(WIDTH[decision]).toBeLessThanOrEqual(WIDTH[permits(plain.permissions, call).decision])
          expect(WIDTH[decision]).toBeLessThanOrEqual(WIDTH[mostBy(as, call)])
          if (decision !== 'deny') seen.allowed += 1
        }
      }),
      { numRuns: 1000 },
    )
    expect(seen.made).toBeGreaterThan(700)
    expect(seen.allowed).toBeGreaterThan(500)
  }, 180_000)

  it('nothing is taken that nobody said to take', () => {
    let allowed = 0
    fc.assert(
      fc.property(profile, calls, (as, calls) => {
        // In a run that lets everything be done without a question, a profile's word is all there is.
        const above = root({ mode: 'dangerous' })
        const { mode, isolation, can_spawn_children, model, models, ...rest } = as
        const derived = tryChild({ above, ask_person: true, profile: { ...rest, can_spawn_children: true } })
        fc.pre(derived.ok)
        for (const call of calls.filter(({ effect, sandboxed }) => effect !== 'delegate' && sandboxed !== false)) {
          const kin = [call, ...kindred(call)]
          const most = kin.map((one, i) =>
            i === 0 ? mostBy(rest, one) : mostBy({ deny: rest.deny ?? [], ask: rest.ask ?? [] }, one),
          )
          const expected = most.reduce((a, b) => (WIDTH[a] < WIDTH[b] ? a : b))
          expect(permits(derived.contract.permissions, call).decision).toBe(expected)
          if (expected === 'allow') allowed += 1
        }
      }),
      { numRuns: 1500 },
    )
    expect(allowed).toBeGreaterThan(500)
  }, 180_000)
})

/** What a rule against one tool says about another that does the same. */
function kindred(call: Call): Call[] {
  const only = (access: 'read' | 'write') => call.paths.filter((one) => one.access === access)
  return [
    ...only('read').map((one): Call => ({ tool: 'read_file', effect: 'read', paths: [one] })),
    ...(call.tool === 'edit_file'
      ? only('write').map((one): Call => ({ tool: 'write_file', effect: 'write', paths: [one] }))
      : []),
    ...(call.tool === 'run_tests' ? [{ ...call, tool: 'run_command' }] : []),
  ]
}
