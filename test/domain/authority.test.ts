import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Authority,
  type Call,
  type CallPattern,
  type CommandPart,
  type CommandWord,
  covers,
  type Decision,
  intersect,
  MODES,
  permits,
  type Rule,
} from '../../src/domain/index.js'

const TOOLS = ['read_file', 'write_file', 'run_command', 'ask_user']
const GLOBS = ['**', 'src', 'src/**', 'src/*.ts', '**/*.test.ts', 'docs/{a,b}.md', 'test', '.', 'a?c/*']
const PATHS = [
  'src',
  'src/a.ts',
  'src/deep/b.test.ts',
  'docs/a.md',
  'docs/c.md',
  'test/x',
  'abc/d',
  '.git/config',
  'sub/.GIT/x',
]
const PATTERNS = ['git diff *', 'git *', 'npm test', '*', 'rm -rf *', 'git d* --stat']
const simple = (words: CommandWord[], more: { hides?: boolean; rides?: boolean } = {}): CommandPart => ({
  kind: 'command',
  words,
  spelled: [],
  hides: false,
  rides: false,
  ...more,
})
const PARTS: CommandPart[] = [
  simple(['git', 'diff']),
  simple(['git', 'diff', '--stat']),
  simple(['npm', 'test']),
  simple(['rm', '-rf', 'x']),
  simple(['git', { starts: '', many: true, option: true }]),
  simple(['git', 'diff', { starts: '--st', many: false, option: true }]),
  simple(['head', '-3'], { rides: true }),
  simple(['sh', 'x'], { hides: true }),
  {
    kind: 'command',
    words: ['git', 'diff', '--output=x'],
    spelled: [{ at: 2, flag: '--output' }],
    hides: false,
    rides: false,
  },
  { kind: 'write', path: 'x' },
]

const subset = (names: string[]) => fc.subarray(names)
const globLayers = fc.array(fc.subarray(GLOBS), { minLength: 1, maxLength: 3 })

const rule: fc.Arbitrary<Rule> = fc.record({
  decision: fc.constantFrom<Decision>('allow', 'ask', 'deny'),
  tool: fc.constantFrom(...TOOLS, '*', 'write_*'),
  pattern: fc.option(fc.constantFrom(...PATTERNS, ...GLOBS), { nil: null }),
})

const callPattern: fc.Arbitrary<CallPattern> = fc.record({
  tool: fc.constantFrom('read_file', 'write_file', 'run_command', 'write_*'),
  pattern: fc.constantFrom(...PATTERNS, ...GLOBS),
})
const distinctLayers = (layers: CallPattern[][]) => [
  ...new Map(layers.map((layer) => [JSON.stringify(layer), layer])).values(),
]

const authority: fc.Arbitrary<Authority> = fc
  .record({
    allowed_tools: subset(TOOLS),
    allowed_skills: subset(['a', 'b']),
    allowed_mcp_servers: subset(['x', 'y']),
    read_paths: globLayers,
    write_paths: globLayers,
    rules: fc.array(fc.record({ mode: fc.constantFrom(...MODES), rules: fc.array(rule, { maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    network: fc.constantFrom<'none' | 'all'>('none', 'all'),
    can_ask_person: fc.boolean(),
    can_spawn_children: fc.boolean(),
    max_delegation_depth: fc.nat(3),
    allowed_calls: fc.option(fc.array(fc.array(callPattern, { maxLength: 3 }), { maxLength: 2 }), { nil: undefined }),
    allowed_profiles: fc.option(subset(['reviewer', '@rev', 'tester']), { nil: undefined }),
  })
  .map(({ allowed_calls, allowed_profiles, ...value }) => ({
    ...value,
    ...(allowed_calls ? { allowed_calls: distinctLayers(allowed_calls) } : {}),
    ...(allowed_profiles ? { allowed_profiles } : {}),
    mode: value.rules.map((layer) => layer.mode).reduce((a, b) => (MODES.indexOf(a) < MODES.indexOf(b) ? a : b)),
  }))

const path = fc.record({ path: fc.constantFrom(...PATHS), access: fc.constantFrom<'read' | 'write'>('read', 'write') })
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    tool: fc.constantFrom('read_file'),
    effect: fc.constant('read' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constantFrom('write_file'),
    effect: fc.constant('write' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constant('run_command'),
    effect: fc.constant('execute' as const),
    paths: fc.constant([]),
    commands: fc.option(fc.array(fc.constantFrom(...PARTS), { maxLength: 3 }), { nil: null }),
    sandboxed: fc.boolean(),
  }),
  fc.record({ tool: fc.constant('ask_user'), effect: fc.constant('ask_person' as const), paths: fc.constant([]) }),
)

const WIDTH: Record<Decision, number> = { deny: 0, ask: 1, allow: 2 }
const width = (a: Authority, c: Call) => WIDTH[permits(a, c).decision]

describe('the intersection of two authorities', () => {
  it('permits exactly what both sides permit, for 100,000 random pairs', () => {
    fc.assert(
      fc.property(authority, authority, call, (a, b, c) => {
        expect(width(intersect(a, b), c)).toBe(Math.min(width(a, c), width(b, c)))
      }),
      { numRuns: 100_000 },
    )
  }, 180_000)

  it('narrows every list and value that is not about single calls', () => {
    fc.assert(
      fc.property(authority, authority, (a, b) => {
        const both = intersect(a, b)
        for (const key of ['allowed_tools', 'allowed_skills', 'allowed_mcp_servers'] as const) {
          expect(both[key]).toEqual(a[key].filter((name) => b[key].includes(name)))
        }
        const lists = [a.allowed_profiles, b.allowed_profiles].filter((list) => list !== undefined)
        const everybody = ['reviewer', '@rev', 'tester']
        const allowed = everybody.filter((name) => lists.every((list) => list.includes(name)))
        expect(both.allowed_profiles === undefined).toBe(lists.length === 0)
        expect(everybody.filter((name) => both.allowed_profiles?.includes(name) ?? true)).toEqual(allowed)
        expect(both.network).toBe(a.network === 'all' && b.network === 'all' ? 'all' : 'none')
        expect(both.can_spawn_children).toBe(a.can_spawn_children && b.can_spawn_children)
        expect(both.max_delegation_depth).toBe(Math.min(a.max_delegation_depth, b.max_delegation_depth))
        expect(MODES.indexOf(both.mode)).toBe(Math.min(MODES.indexOf(a.mode), MODES.indexOf(b.mode)))
      }),
      { numRuns: 2000 },
    )
  })

  it('has the narrower mode for where nobody can be asked, and none where one side has none', () => {
    const both = (a: Authority['unasked'], b: Authority['unasked']) =>
      intersect({ ...wide, ...(a ? { unasked: a } : {}) }, { ...wide, ...(b ? { unasked: b } : {}) })
    expect(both('dangerous', 'auto').unasked).toBe('auto')
    expect(both('normal', 'auto').unasked).toBe('normal')
    expect(both(undefined, 'auto')).not.toHaveProperty('unasked')
    expect(both('auto', undefined)).not.toHaveProperty('unasked')
  })

  it('is the same whichever side comes first, and changes nothing when repeated', () => {
    fc.assert(
      fc.property(authority, authority, call, (a, b, c) => {
        expect(width(intersect(a, b), c)).toBe(width(intersect(b, a), c))
        expect(intersect(intersect(a, b), b)).toEqual(intersect(a, b))
      }),
      { numRuns: 5000 },
    )
  })
})

const wide: Authority = {
  mode: 'dangerous',
  allowed_tools: TOOLS,
  allowed_skills: [],
  allowed_mcp_servers: [],
  read_paths: [['**']],
  write_paths: [['**']],
  rules: [{ mode: 'dangerous', rules: [] }],
  network: 'all',
  can_ask_person: true,
  can_spawn_children: false,
  max_delegation_depth: 0,
}
const write = (path: string): Call => ({ tool: 'write_file', effect: 'write', paths: [{ path, access: 'write' }] })
const commands = (...parts: CommandPart[]): Call => ({
  tool: 'run_command',
  effect: 'execute',
  paths: [],
  commands: parts,
})
const command = (...argv: string[]): Call => commands(simple(argv))
const inMode = (mode: Authority['mode'], rules: Rule[] = []): Authority => ({ ...wide, mode, rules: [{ mode, rules }] })

describe('permits', () => {
  it.each([
    ['plan', write('a'), 'deny', 'mode plan'],
    ['plan', command('ls'), 'deny', 'mode plan'],
    ['normal', write('a'), 'ask', 'mode normal'],
    ['normal', command('ls'), 'ask', 'mode normal'],
    ['auto', write('a'), 'allow', 'mode auto'],
    ['auto', command('ls'), 'ask', 'mode auto'],
    ['auto', { ...command('ls'), sandboxed: true }, 'allow', 'mode auto'],
    ['dangerous', command('ls'), 'allow', 'mode dangerous'],
  ] as const)('in %s mode treats %j as %s', (mode, call, decision, rule) => {
    expect(permits(inMode(mode), call)).toMatchObject({ decision, rule })
  })

  it.each(['.git/config', '.GIT/hooks/x', 'sub/.git/x', '.retinue/retinue.db', '.git'])(
    'never lets %s be written, in any mode',
    (path) => {
      expect(permits(wide, write(path))).toMatchObject({ decision: 'deny', rule: 'protected' })
    },
  )

  it('takes an empty list for none, not for all', () => {
    expect(permits({ ...wide, write_paths: [[]] }, write('a')).decision).toBe('deny')
    expect(permits({ ...wide, allowed_tools: [] }, write('a')).decision).toBe('deny')
  })

  it('lets a deny win over an allow, and an ask over an allow', () => {
    const rules: Rule[] = [
      { decision: 'allow', tool: 'run_command', pattern: 'git *' },
      { decision: 'ask', tool: 'run_command', pattern: 'git push *' },
      { decision: 'deny', tool: 'run_command', pattern: 'git push --force *' },
    ]
    expect(permits(inMode('normal', rules), command('git', 'diff')).decision).toBe('allow')
    expect(permits(inMode('normal', rules), command('git', 'push', 'x')).decision).toBe('ask')
    expect(permits(inMode('normal', rules), command('git', 'push', '--force', 'x')).decision).toBe('deny')
  })

  it('calls a question the rule’s where a rule asks it, whatever else the mode asks about', () => {
    const rule: Rule = { decision: 'ask', tool: 'run_command', pattern: 'git push *' }
    const two = commands(simple(['npm', 'test']), simple(['git', 'push', 'x']))
    expect(permits(inMode('normal', [rule]), two)).toMatchObject({ decision: 'ask', by: 'rule' })
    const layers: Authority = {
      ...inMode('normal'),
      rules: [...inMode('normal').rules, ...inMode('auto', [rule]).rules],
    }
    expect(permits(layers, command('git', 'push', 'x'))).toMatchObject({ decision: 'ask', by: 'rule' })
    expect(permits(layers, command('npm', 'test'))).toMatchObject({ decision: 'ask', by: 'mode' })
  })

  it('does not let a rule break plan mode', () => {
    const rules: Rule[] = [{ decision: 'allow', tool: '*', pattern: null }]
    expect(permits(inMode('plan', rules), write('a')).decision).toBe('deny')
  })

  it('never lets a command that was not understood profit from an allow rule, nor escape a deny', () => {
    const opaque: Call = { tool: 'run_command', effect: 'execute', paths: [], commands: null }
    const allow: Rule = { decision: 'allow', tool: 'run_command', pattern: 'git *' }
    const deny: Rule = { decision: 'deny', tool: 'run_command', pattern: 'rm *' }
    expect(permits(inMode('normal', [allow]), opaque).decision).toBe('ask')
    expect(permits(inMode('dangerous', [deny]), opaque).decision).toBe('deny')
  })

  it('wants every command of a list permitted by itself', () => {
    const allow: Rule = { decision: 'allow', tool: 'run_command', pattern: 'git *' }
    const two = commands(simple(['git', 'log']), simple(['rm', 'x']))
    expect(permits(inMode('normal', [allow]), two).decision).toBe('ask')
  })

  const allow: Rule = { decision: 'allow', tool: 'run_command', pattern: 'git *' }
  const head = simple(['head', '-3'], { rides: true })

  it('wants no yes of its own for what does nothing by itself, beside something that has one', () => {
    expect(permits(inMode('normal', [allow]), commands(simple(['git', 'log']), head)).decision).toBe('allow')
    expect(permits(inMode('normal', [allow]), commands(simple(['rm', 'x']), head)).decision).toBe('ask')
    expect(permits(inMode('normal', [allow]), commands(head)).decision).toBe('ask')
    // Where all of them do nothing by themselves, one that is allowed leads.
    const tail = simple(['tail'], { rides: true })
    const leads: Rule = { decision: 'allow', tool: 'run_command', pattern: 'tail' }
    expect(permits(inMode('normal', [leads]), commands(tail, head)).decision).toBe('allow')
    expect(covers([leads], commands(tail, head))).toBe(true)
    expect(covers([allow], commands(tail, head))).toBe(false)
  })

  it.each(['deny', 'ask'] as const)('lets nothing ride past a rule to %s', (decision) => {
    const rules: Rule[] = [allow, { decision, tool: 'run_command', pattern: 'head *' }]
    expect(permits(inMode('normal', rules), commands(simple(['git', 'log']), head)).decision).toBe(decision)
  })

  it('wants more than an allow for the command where a file is written', () => {
    const writing = commands(simple(['git', 'log']), { kind: 'write', path: 'x' })
    expect(permits(inMode('normal', [allow]), writing).decision).toBe('ask')
    expect(permits(inMode('normal', [{ ...allow, pattern: null }]), writing).decision).toBe('allow')
    expect(
      permits({ ...inMode('auto'), rules: [{ mode: 'auto', rules: [] }] }, { ...writing, sandboxed: true }).decision,
    ).toBe('allow')
  })

  it('takes a line without any command for one that was not understood', () => {
    expect(permits(inMode('normal', [allow]), commands()).decision).toBe('ask')
    expect(permits(inMode('dangerous', [{ ...allow, decision: 'deny' }]), commands()).decision).toBe('deny')
  })

  it('says why a command was not understood', () => {
    const opaque: Call = { tool: 'run_command', effect: 'execute', paths: [], commands: null, unclear: 'it uses eval' }
    expect(permits(inMode('dangerous', [{ ...allow, decision: 'deny' }]), opaque).reason).toBe(
      'the command cannot be checked against the rule deny run_command(git *) (it uses eval)',
    )
  })
})

describe('a layer of allowed calls', () => {
  const layered = (...layers: [tool: string, pattern: string][][]): Authority => ({
    ...wide,
    allowed_tools: [...TOOLS, 'edit_file', 'web_fetch', 'mcp__db__query'],
    allowed_calls: layers.map((layer) => layer.map(([tool, pattern]) => ({ tool, pattern }))),
  })
  const git = layered([
    ['run_command', 'git diff *'],
    ['run_command', 'git log *'],
    ['run_command', 'npm run test *'],
  ])
  const diff = simple(['git', 'diff', 'x'])
  const head = simple(['head', '-3'], { rides: true })
  const npmRun = (...words: string[]): CommandPart => ({
    ...{ kind: 'command', words: ['npm', 'run', ...words], hides: true, rides: false },
    spelled: [{ at: 1, flag: 'run' }],
  })

  it.each<[string, Call, Decision]>([
    ['a command that matches', commands(diff), 'allow'],
    ['each of several', commands(diff, simple(['git', 'log'])), 'allow'],
    ['one of several that does not match', commands(diff, simple(['rm', 'x'])), 'deny'],
    ['another program of that name', commands(simple(['/tmp/git', 'diff'])), 'deny'],
    ['what rides along', commands(diff, head), 'allow'],
    ['what rides, alone', commands(head), 'deny'],
    ['a file that it writes', commands(diff, { kind: 'write', path: 'x' }), 'deny'],
    [
      'an option that does more and is not spelled out',
      commands({
        ...diff,
        words: ['git', 'diff', '--output=x'],
        spelled: [{ at: 2, flag: '--output' }],
      } as CommandPart),
      'deny',
    ],
    ['words that nobody knows yet', commands(simple(['git', { starts: '', many: true, option: true }])), 'deny'],
    ['what may run anything, and is spelled out', commands(npmRun('test')), 'allow'],
    ['what may run anything else', commands(npmRun('deploy')), 'deny'],
    ['what nobody can see into', commands(simple(['git', 'log'], { hides: true })), 'deny'],
    ['a line that was not understood', { ...command('x'), commands: null }, 'deny'],
    ['a line without a command', commands(), 'deny'],
    ['a tool that it does not name', write('a'), 'allow'],
  ])('has for %s its answer', (_, call, decision) => {
    expect(permits(git, call).decision).toBe(decision)
  })

  it('says what is allowed, and why the rest was not understood', () => {
    expect(permits(git, command('rm', 'x'))).toEqual({
      decision: 'deny',
      reason: 'the contract allows run_command only for git diff *, git log *, npm run test *',
      rule: 'allowed_calls',
      by: 'contract',
    })
    expect(permits(git, { ...command('x'), commands: null, unclear: 'it uses eval' }).reason).toBe(
      'the contract allows run_command only for git diff *, git log *, npm run test *, and the command cannot be checked (it uses eval)',
    )
  })

  it('of paths and addresses is matched by each of them', () => {
    const docs = layered([
      ['write_file', 'docs/**'],
      ['web_fetch', 'example.org/docs/**'],
      ['mcp__*', 'x'],
      ['ask_user', 'x'],
    ])
    const both = { ...write('docs/a'), paths: [...write('docs/a').paths, { path: 'src/a', access: 'read' as const }] }
    const fetch = (address: string): Call => ({ tool: 'web_fetch', effect: 'fetch', paths: [], address })
    const calls: Record<string, Call> = {
      inside: write('docs/a'),
      outside: write('src/a'),
      both,
      edit: { ...write('src/a'), tool: 'edit_file' },
      fetch: fetch('example.org/docs/a'),
      elsewhere: fetch('example.org/a'),
      // What a pattern cannot speak about does not match it.
      server: { tool: 'mcp__db__query', effect: 'external', paths: [] },
      question: { tool: 'ask_user', effect: 'ask_person', paths: [] },
    }
    expect(Object.entries(calls).map(([name, call]) => [name, permits(docs, call).decision])).toEqual([
      ['inside', 'allow'],
      ['outside', 'deny'],
      ['both', 'deny'],
      ['edit', 'allow'],
      ['fetch', 'allow'],
      ['elsewhere', 'deny'],
      ['server', 'deny'],
      ['question', 'deny'],
    ])
  })

  it('wants a call to be in each layer that names its tool', () => {
    const two = layered([['run_command', 'git *']], [['run_command', '* diff']], [['write_file', 'x']])
    expect(permits(two, command('git', 'diff')).decision).toBe('allow')
    expect(permits(two, command('git', 'log')).decision).toBe('deny')
    expect(permits(two, command('hg', 'diff')).decision).toBe('deny')
  })

  it('answers before any rule or mode does', () => {
    const rules: Rule[] = [{ decision: 'allow', tool: '*', pattern: null }]
    expect(permits({ ...git, rules: [{ mode: 'dangerous', rules }] }, command('rm', 'x')).decision).toBe('deny')
    const asks: Authority = { ...git, mode: 'normal', rules: [{ mode: 'normal', rules: [] }] }
    expect(permits(asks, commands(diff))).toMatchObject({ decision: 'ask', by: 'mode' })
  })
})

describe('what a person granted', () => {
  const grant: Rule = { decision: 'allow', tool: 'run_command', pattern: 'git diff *' }

  it('covers a call only if it covers every part that needs a yes', () => {
    const diff = simple(['git', 'diff', 'x'])
    expect(covers([grant], commands(diff, simple(['head'], { rides: true })))).toBe(true)
    expect(covers([grant], commands(diff, simple(['rm', 'x'])))).toBe(false)
    expect(covers([grant], commands(diff, { kind: 'write', path: 'x' }))).toBe(false)
    expect(covers([grant], commands())).toBe(false)
    expect(covers([grant], { ...commands(), commands: null })).toBe(false)
  })
})
