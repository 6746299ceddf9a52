import { describe, expect, it } from 'vitest'
import {
  type Authority,
  type Call,
  DELEGATION_TOOLS,
  mayWrite,
  type Profile,
  parseRule,
  permits,
  type Rule,
  unenforceable,
} from '../../src/domain/index.js'
import { adjustment, type ChildAsked, child, PLAIN_TOOLS, refusal, root } from './deriving.js'

const words = (...list: string[]) => ({
  ...({ kind: 'command', words: list, spelled: [], hides: false, rides: false } as const),
})
const command = (...list: string[]): Call => ({
  ...({ tool: 'run_command', effect: 'execute', paths: [], commands: [words(...list)], sandboxed: true } as const),
})
const write = (path: string, tool = 'write_file'): Call => ({
  ...({ tool, effect: 'write', paths: [{ path, access: 'write' }] } as const),
})
const decision = (authority: Authority, call: Call) => permits(authority, call).decision
const rule = (decision: Rule['decision'], text: string): Rule => {
  const parsed = parseRule(decision, text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.rule
}

describe('tools that a profile has for some calls', () => {
  const calls = 'permissions.allowed_calls'

  it('are the tool, and a layer of what it is for', () => {
    const { permissions, adjustments } = child({
      profile: { tools: ['read_file', 'run_command(git diff *)', 'run_command(git log *)', 'write_file(docs/**)'] },
    })
    expect(permissions.allowed_tools).toEqual(['read_file', 'write_file', 'run_command'])
    expect(permissions.allowed_calls).toEqual([
      [
        { tool: 'write_file', pattern: 'docs/**' },
        { tool: 'run_command', pattern: 'git diff *' },
        { tool: 'run_command', pattern: 'git log *' },
      ],
    ])
    expect(adjustments).toEqual([])
    expect(decision(permissions, command('git', 'log'))).toBe('allow')
    expect(decision(permissions, command('git', 'push'))).toBe('deny')
    expect(decision(permissions, write('docs/a.md'))).toBe('allow')
    expect(decision(permissions, write('src/a.ts'))).toBe('deny')
    // What does the same by another name is not there at all.
    expect(decision(permissions, write('src/a.ts', 'edit_file'))).toBe('deny')
    expect(decision(permissions, { ...command('git', 'push'), tool: 'run_tests' })).toBe('deny')
  })

  it.each<[string, string[], object | undefined]>([
    ['a plain entry', ['run_command(git *)', 'run_command'], undefined],
    ['a pattern of names', ['run_command(git *)', 'run_*'], undefined],
    ['a pattern for others', ['run_*(git *)', 'run_tests'], [[{ tool: 'run_command', pattern: 'git *' }]]],
    ['nothing', ['run_*(git *)'], [['run_command', 'run_tests'].map((tool) => ({ tool, pattern: 'git *' }))]],
  ])('are for all of them where there is %s beside it', (_, tools, layers) => {
    expect(child({ profile: { tools } }).permissions.allowed_calls).toEqual(layers)
  })

  it('can be asked for so too, within what the profile says', () => {
    const { permissions, adjustments } = child({
      profile: { tools: ['run_command(git *)', 'read_file'] },
      request: { tools: ['run_command(git diff *)', 'read_file(src/**)', 'fly(high)', 'run_command('] },
    })
    expect(permissions.allowed_tools).toEqual(['read_file', 'run_command'])
    expect(permissions.allowed_calls).toEqual([
      [{ tool: 'run_command', pattern: 'git *' }],
      [
        { tool: 'read_file', pattern: 'src/**' },
        { tool: 'run_command', pattern: 'git diff *' },
      ],
    ])
    expect(adjustments).toEqual([
      adjustment('permissions.allowed_tools', 'fly(high)', 'none', 'there is no such tool'),
      adjustment('permissions.allowed_tools', 'run_command(', 'none', 'there is no such tool'),
      adjustment(
        calls,
        'run_command(git diff *)',
        'what of it is in git *',
        'the profile helper has it only for git *',
      ),
    ])
  })

  it('stay so for those below, who are told', () => {
    const above = child({ profile: { tools: ['run_command(git *)', 'spawn', 'read_file'], can_spawn_children: true } })
    const below = child({ above, profile: { tools: ['run_command', 'read_file'] } })
    expect(below.permissions.allowed_calls).toEqual([[{ tool: 'run_command', pattern: 'git *' }]])
    expect(below.adjustments).toEqual([
      adjustment(calls, 'run_command', 'what of it is in git *', 'its parent may use it only for git *'),
    ])
    expect(child({ above, profile: { tools: ['run_command(git *)'] } }).adjustments).toEqual([])
    expect(child({ above, profile: { tools: ['run_command(* log)'] } }).permissions.allowed_calls).toEqual([
      [{ tool: 'run_command', pattern: 'git *' }],
      [{ tool: 'run_command', pattern: '* log' }],
    ])
    expect(child({ above }).permissions.allowed_calls).toEqual([[{ tool: 'run_command', pattern: 'git *' }]])
  })
})

describe('what a profile refuses and asks about', () => {
  const asked: ChildAsked = {
    ask_person: true,
    profile: { deny: ['run_command(rm *)', 'write_file(secret/**)'], ask: ['run_command(git push *)'] },
  }

  it('is a layer that takes away nothing else', () => {
    const rules = [rule('allow', 'run_command(git *)')]
    const { permissions } = child({ ...asked, above: root({ mode: 'normal', rules }) })
    expect(permissions.mode).toBe('normal')
    expect(permissions.rules).toEqual([
      { mode: 'normal', rules },
      {
        mode: 'dangerous',
        rules: [
          rule('deny', 'run_command(rm *)'),
          rule('deny', 'write_file(secret/**)'),
          rule('ask', 'run_command(git push *)'),
        ],
      },
    ])
    expect(decision(permissions, command('git', 'log'))).toBe('allow')
    expect(permits(permissions, command('git', 'push', 'x'))).toMatchObject({ decision: 'ask', by: 'rule' })
    expect(decision(permissions, command('rm', 'x'))).toBe('deny')
    expect(decision(permissions, write('secret/a', 'edit_file'))).toBe('deny')
    expect(permits(permissions, write('a'))).toMatchObject({ decision: 'ask', by: 'mode' })
  })

  it.each(['auto', 'dangerous'] as const)('holds in %s mode', (mode) => {
    const { permissions } = child({ ...asked, above: root({ mode }) })
    expect(permissions.mode).toBe(mode)
    expect(decision(permissions, command('git', 'log'))).toBe('allow')
    expect(decision(permissions, command('git', 'push', 'x'))).toBe('ask')
    expect(decision(permissions, command('rm', 'x'))).toBe('deny')
    // And in a narrower one that the profile is in itself.
    const narrow = child({ ...asked, above: root({ mode }), profile: { ...asked.profile, mode: 'normal' } })
    expect(narrow.permissions.mode).toBe('normal')
    expect(decision(narrow.permissions, command('git', 'log'))).toBe('ask')
    expect(decision(narrow.permissions, command('rm', 'x'))).toBe('deny')
  })

  it.each<[string, Profile, boolean, string]>([
    ['denies all that writes', { deny: ['write_file', 'run_command'] }, true, 'read_only'],
    ['denies a part of it', { deny: ['write_file(docs/**)', 'run_command(rm *)'] }, true, 'worktree'],
    ['denies one of the tools', { deny: ['write_file'] }, true, 'worktree'],
    ['asks about all, and somebody is there', { ask: ['*'] }, true, 'worktree'],
    ['asks about all, and nobody is there', { ask: ['*'] }, false, 'read_only'],
  ])('decides about a tree of its own: one that %s', (_, profile, ask_person, isolation) => {
    const contract = child({ profile, ask_person })
    expect(contract.workspace.isolation).toBe(isolation)
    expect(mayWrite(contract)).toBe(isolation === 'worktree')
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
  })

  it('does not say that it writes where its parent’s rules let it do nothing', () => {
    const asked = { above: root({ mode: 'normal' }), profile: { deny: ['run_command(rm *)'] } }
    expect(child(asked).workspace.isolation).toBe('read_only')
  })
})

describe('paths of a profile', () => {
  it('are layers, and it is said where they reach too far', () => {
    const above = root({ read_paths: [['src', 'docs']], write_paths: [['src']] })
    const contract = child({
      above,
      profile: { read_paths: ['src/a', 'lib'], write_paths: ['src/a', '**/test/**'] },
      request: { owns: ['src/a/b', 'src/c'] },
    })
    expect(contract.permissions.read_paths).toEqual([
      ['src', 'docs'],
      ['src/a', 'lib'],
    ])
    expect(contract.permissions.write_paths).toEqual([['src'], ['src/a', '**/test/**'], ['src/a/b', 'src/c']])
    expect(contract.workspace.owns).toEqual(['src/a/b', 'src/c'])
    const within = 'what of it is in'
    expect(contract.adjustments).toEqual([
      adjustment('permissions.read_paths', 'lib', `${within} src, docs`, 'its parent may read src, docs'),
      adjustment('permissions.write_paths', '**/test/**', `${within} src`, 'its parent may write src'),
      adjustment(
        'permissions.write_paths',
        'src/c',
        `${within} src/a, **/test/**`,
        'the profile helper may write src/a, **/test/**',
      ),
    ])
  })

  it('are what it owns where nobody asks for less', () => {
    const contract = child({ profile: { write_paths: ['**/test/**'] } })
    expect(contract.workspace).toMatchObject({ isolation: 'worktree', owns: ['**/test/**'] })
    expect(decision(contract.permissions, write('a/test/b'))).toBe('allow')
    expect(decision(contract.permissions, write('a/b'))).toBe('deny')
  })

  it('that are none leave nothing to write, and everything else', () => {
    const contract = child({ profile: { write_paths: [] } })
    expect(contract.permissions.write_paths).toEqual([['**'], []])
    expect(contract.permissions.allowed_tools).toEqual(PLAIN_TOOLS)
    expect(contract.workspace).toMatchObject({ isolation: 'read_only', owns: [] })
    expect(contract.adjustments).toEqual([])
    expect(child({ profile: { read_paths: [] } }).permissions.read_paths).toEqual([['**'], []])
  })

  it('give way to a wish to only read', () => {
    const contract = child({ profile: { write_paths: ['src'] }, request: { isolation: 'read_only' } })
    expect(contract.permissions.write_paths).toEqual([['**'], []])
    expect(contract.workspace.isolation).toBe('read_only')
  })
})

describe('a profile that nobody could hold an agent to is refused', () => {
  const no = (what: string) => `Not spawned: the profile helper ${what}. Use another profile, or none.`

  it.each<[Profile, string]>([
    [
      { tools: ['run_command(git'] },
      'cannot be enforced: tools: "run_command(git" is not a rule: write tool or tool(pattern), as in run_command(git diff *)',
    ],
    [
      { deny: ['rm -rf'], ask: ['(x)'] },
      'cannot be enforced: deny: "rm -rf" is not a rule: write tool or tool(pattern), as in run_command(git diff *); ask: "(x)" is not a rule: write tool or tool(pattern), as in run_command(git diff *)',
    ],
    [{ write_paths: ['../x'] }, 'cannot be enforced: "../x" in write_paths leaves the workspace: .. is not allowed'],
    [{ read_paths: ['/etc'] }, 'cannot be enforced: "/etc" in read_paths is not relative to the workspace'],
    [
      { deny: ['mcp__db__query(drop)'] },
      'cannot be enforced: deny: "mcp__db__query(drop)" has a pattern that no call could match: write the tool alone',
    ],
    [
      { tools: ['spawn(reviewer)'] },
      'cannot be enforced: tools: "spawn(reviewer)" has a pattern that no call could match: say in may_spawn whom it may spawn',
    ],
    [
      { ask: ['load_skill(roofing)'] },
      'cannot be enforced: ask: "load_skill(roofing)" has a pattern that no call could match: say in skills which it has',
    ],
    [
      { tools: ['fly', 'swim(fast)', 'read_file'], deny: ['crawl'], ask: ['fly'] },
      'names unknown tools: fly, swim(fast), crawl',
    ],
  ])('%j', (profile, what) => {
    expect(refusal({ profile })).toBe(no(what))
  })

  it('and one that names what is not set up is not', () => {
    expect(
      child({ profile: { tools: ['web_search', 'mcp__moon__x'], deny: ['web_search', 'mcp__sun__*'] } }),
    ).toBeTruthy()
  })
})

describe('whom a profile may spawn', () => {
  const lead = (profile: Profile, above = root()) => child({ above, name: 'lead', profile })
  const field = 'permissions.can_spawn_children'

  it.each<[Profile, boolean, string[] | undefined]>([
    [{}, false, undefined],
    [{ can_spawn_children: true }, true, undefined],
    [{ may_spawn: ['reviewer'] }, true, ['reviewer']],
    [{ may_spawn: ['reviewer', '@rev'], can_spawn_children: true }, true, ['reviewer', '@rev']],
    [{ may_spawn: ['reviewer'], can_spawn_children: false }, false, ['reviewer']],
    [{ may_spawn: [] }, false, []],
    [{ may_spawn: [], can_spawn_children: true }, false, []],
  ])('%j: %j', (profile, can_spawn_children, allowed_profiles) => {
    const contract = lead(profile)
    expect(contract.permissions.can_spawn_children).toBe(can_spawn_children)
    expect(contract.permissions.allowed_profiles).toEqual(allowed_profiles)
    expect(contract.permissions.allowed_tools).toEqual(
      can_spawn_children ? [...PLAIN_TOOLS, ...DELEGATION_TOOLS] : PLAIN_TOOLS,
    )
    expect(contract.adjustments).toEqual([])
  })

  it('is a profile by its name or by its handle, and nobody else', () => {
    const by = (...may_spawn: string[]) => lead({ may_spawn })
    const reviewer: ChildAsked = { name: 'reviewer', profile: {} }
    const handle: ChildAsked = { ...reviewer, entry: { agentId: '@rev' } }
    const only = (names: string) => `Not spawned: this agent may only spawn ${names}.`
    expect(child({ above: by('reviewer'), ...reviewer }).agent.profile_id).toBe('reviewer')
    expect(child({ above: by('reviewer'), ...handle }).agent).toMatchObject({ handle: '@rev', profile_id: 'reviewer' })
    expect(child({ above: by('@rev'), ...handle }).agent.handle).toBe('@rev')
    // Who is let have an agent of the registry is not let have its profile without what the registry says.
    expect(refusal({ above: by('@rev'), ...reviewer })).toBe(only('@rev'))
    expect(refusal({ above: by('reviewer', '@qa'), name: 'tester', profile: {} })).toBe(only('reviewer, @qa'))
    expect(refusal({ above: by('reviewer') })).toBe(only('reviewer'))
  })

  it('is never more than its parent may', () => {
    const above = lead({ may_spawn: ['executor', 'reviewer'] })
    const next = child({ above, name: 'executor', profile: { may_spawn: ['reviewer', 'tester', 'tester'] } })
    expect(next.permissions).toMatchObject({ can_spawn_children: true, allowed_profiles: ['reviewer'] })
    expect(next.adjustments).toEqual([
      adjustment('permissions.allowed_profiles', 'tester', 'none', 'its parent may only spawn executor, reviewer'),
    ])
    expect(
      child({ above, name: 'executor', profile: { can_spawn_children: true } }).permissions.allowed_profiles,
    ).toEqual(['executor', 'reviewer'])
    const none = child({ above, name: 'executor', profile: { may_spawn: ['tester'] } })
    expect(none.permissions).toMatchObject({ can_spawn_children: false, allowed_profiles: [] })
    expect(none.adjustments).toEqual([
      adjustment(field, 'true', 'false', 'its parent may only spawn executor, reviewer'),
    ])
  })

  it('is nobody where there is no level left', () => {
    const above = root({ delegation: { enabled: true, max_depth: 1, models: [] } })
    expect(child({ above, profile: { may_spawn: ['reviewer'] } }).adjustments).toEqual([
      adjustment(field, 'true', 'false', 'Maximum sub-agent depth (1) exceeded'),
    ])
  })
})

describe('skills and MCP servers', () => {
  const given = (asked: ChildAsked) => {
    const { permissions, adjustments } = child(asked)
    return [permissions.allowed_skills, permissions.allowed_mcp_servers, adjustments]
  }
  const skill = (asked: string, reason: string) => adjustment('permissions.allowed_skills', asked, 'none', reason)
  const server = (asked: string, reason: string) => adjustment('permissions.allowed_mcp_servers', asked, 'none', reason)
  const ALL = [
    ['roofing', 'painting', 'tiling'],
    ['tracker', 'db'],
  ] as const

  it.each<[string, ChildAsked, unknown[]]>([
    ['all where nobody says anything', {}, [...ALL, []]],
    ['all where the registry says nothing', { profile: {}, entry: {} }, [...ALL, []]],
    [
      'those that the registry allows',
      { profile: {}, entry: { allowedForwardSkills: ['skill:roofing', 'tiling'], allowedMcpServers: ['mcp:db'] } },
      [['roofing', 'tiling'], ['db'], []],
    ],
    [
      'none where it allows none',
      { profile: {}, entry: { allowedForwardSkills: [], allowedMcpServers: [] } },
      [[], [], []],
    ],
    [
      'the usual ones, where nobody asks for others',
      { profile: {}, entry: { defaultForwardSkills: ['skill:tiling'], defaultMcpServers: ['mcp:tracker'] } },
      [['tiling'], ['tracker'], []],
    ],
    [
      'those that were asked for, where the usual ones are others',
      {
        profile: {},
        entry: { defaultForwardSkills: ['tiling'], defaultMcpServers: [] },
        request: { skills: ['skill:roofing'], mcp_servers: ['db'] },
      },
      [['roofing'], ['db'], []],
    ],
    ['none where none were asked for', { request: { skills: [], mcp_servers: [] } }, [[], [], []]],
    [
      'not what the registry, the profile or its parent keep',
      {
        profile: { skills: ['roofing', 'painting'], mcp_servers: ['tracker'] },
        entry: { allowedForwardSkills: ['roofing', 'tiling', 'flying'] },
        request: { skills: ['roofing', 'painting', 'tiling', 'flying'], mcp_servers: ['db', 'moon', '*'] },
      },
      [
        ['roofing'],
        ['tracker'],
        [
          skill('painting', 'the registry does not let @hand have it'),
          skill('tiling', 'the profile helper does not name it'),
          skill('flying', 'its parent has none of that name'),
          server('db', 'the profile helper does not name it'),
          server('moon', 'its parent has none of that name'),
        ],
      ],
    ],
    [
      'usual ones only as far as they may be had',
      {
        profile: { skills: ['paint*', 'roofing', 'flying'] },
        entry: { defaultForwardSkills: ['skill:tiling', 'skill:roofing'], allowedForwardSkills: ['skill:roofing'] },
      },
      [
        ['roofing'],
        ['tracker', 'db'],
        [
          skill('skill:tiling', 'the profile helper does not name it'),
          skill('paint*', 'the registry does not let @hand have it'),
          skill('flying', 'its parent has none of that name'),
        ],
      ],
    ],
    [
      'and what is only not usual is no refusal',
      { profile: { skills: ['painting', 'roofing'] }, entry: { defaultForwardSkills: ['roofing'] } },
      [['roofing'], ['tracker', 'db'], []],
    ],
  ])('are %s', (_, asked, expected) => {
    expect(given(asked)).toEqual(expected)
  })

  it.each<[string, ChildAsked, string]>([
    [
      'the registry',
      { profile: {}, entry: { allowedMcpServers: ['tracker'] } },
      'the registry does not let @hand have its MCP server',
    ],
    [
      'what is usual',
      { profile: {}, entry: { defaultMcpServers: ['tracker'] } },
      '@hand has its MCP server only where it is asked for',
    ],
    ['the request', { request: { mcp_servers: ['tracker'] } }, 'its MCP server was not asked for'],
    ['the profile', { profile: { mcp_servers: ['tracker'] } }, 'the profile helper does not name its MCP server'],
  ])('go with their tools, and %s took them', (_, asked, reason) => {
    const request = { ...asked.request, tools: ['mcp__db__query', 'mcp__tracker__list'] }
    const contract = child({ ...asked, request })
    expect(contract.permissions.allowed_tools).toEqual(['mcp__tracker__list'])
    expect(contract.adjustments).toEqual([adjustment('permissions.allowed_tools', 'mcp__db__query', 'none', reason)])
  })
})

describe('a share of the model’s window', () => {
  const context = (profile: Profile, window: number | null, request = {}) => {
    const { execution, adjustments } = child({ profile, window, request })
    return [execution.budget.context_tokens, adjustments]
  }
  const field = 'execution.budget.context_tokens'

  it('is what a request may fill, where that is more than the profile says in tokens', () => {
    const profile: Profile = { context_share: 25, budget: { context_tokens: 12_500 } }
    expect(context(profile, null)).toEqual([12_500, []])
    expect(context(profile, 32_001)).toEqual([12_500, []])
    expect(context(profile, 128_001)).toEqual([32_000, []])
    // 200,000 characters.
    expect(context(profile, 1_000_000)).toEqual([50_000, []])
    expect(context({ context_share: 50 }, 40_000)).toEqual([20_000, []])
    expect(context({ context_share: 50 }, null)).toEqual([8192, []])
    expect(context({ context_share: 1 }, 50)).toEqual([1, []])
    expect(context({ context_share: 50, budget: { context_tokens: 60_000 } }, 1_000_000)).toEqual([60_000, []])
  })

  it('is held to the window and to the parent’s, and bounds who asks for more', () => {
    expect(context({ context_share: 100, budget: { context_tokens: 9000 } }, 8000)).toEqual([
      8000,
      [adjustment(field, '9000', '8000', 'p/m takes no more')],
    ])
    expect(context({ context_share: 20 }, 100_000, { budget: { context_tokens: 30_000 } })).toEqual([
      20_000,
      [adjustment(field, '30000', '20000', 'the profile helper gives no more')],
    ])
    const above = root({ budget: { context_tokens: 10_000 } })
    expect(child({ above, profile: { context_share: 25 }, window: 100_000 })).toMatchObject({
      execution: { budget: { context_tokens: 10_000 } },
      adjustments: [adjustment(field, '25000', '10000', 'its parent has no more itself')],
    })
  })
})

describe('a sub-agent that stands in for another', () => {
  it('can do no more than that one, whatever it is asked for', () => {
    const first = child({ profile: { tools: ['run_command(npm test)', 'read_file'] } })
    const second = child({ request: { at_most: first.permissions, tools: ['*'] } })
    expect(second.permissions.allowed_tools).toEqual(first.permissions.allowed_tools)
    const decided = (...list: string[]) => decision(second.permissions, command(...list))
    expect([decided('npm', 'test'), decided('curl', 'evil')]).toEqual(['allow', 'deny'])
  })
})
