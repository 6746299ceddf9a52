import { describe, expect, it } from 'vitest'
import {
  type Adjustment,
  type Authority,
  type Call,
  DELEGATION_TOOLS,
  type Profile,
  unenforceable,
} from '../../src/domain/index.js'
import { type Asked, child, effective, FILES, refusal, root, TOOLS } from './derive-lab.js'
import { adjustment, fresh } from './deriving.js'

describe('a mode', () => {
  it.each([
    ['auto', undefined, undefined, 'auto', []],
    ['auto', 'normal', undefined, 'normal', []],
    ['auto', undefined, 'plan', 'plan', []],
    [
      'auto',
      'plan',
      'normal',
      'plan',
      [adjustment('permissions.mode', 'normal', 'plan', 'the profile helper is in plan mode')],
    ],
    [
      'normal',
      undefined,
      'auto',
      'normal',
      [adjustment('permissions.mode', 'auto', 'normal', 'its parent is in normal mode')],
    ],
    [
      'normal',
      'dangerous',
      undefined,
      'normal',
      [adjustment('permissions.mode', 'dangerous', 'normal', 'its parent is in normal mode')],
    ],
    ['normal', 'auto', 'plan', 'plan', []],
  ] as const)('of %s, profile %s, request %s is %s', (above, named, asked, mode, adjustments) => {
    const contract = child({
      parent: fresh(root({ mode: above })),
      ...(named ? { profile: { mode: named } } : {}),
      ...(asked ? { request: { mode: asked } } : {}),
    })
    expect(contract.permissions.mode).toBe(mode)
    expect(contract.adjustments).toEqual(adjustments)
    expect(contract.workspace.isolation).toBe(above === 'auto' && mode !== 'plan' ? 'worktree' : 'read_only')
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
  })

  describe('whose questions nobody answers', () => {
    const write: Call = { tool: 'write_file', effect: 'write', paths: [{ path: 'a.txt', access: 'write' }] }
    const command = (sandboxed: boolean): Call => ({
      ...{ tool: 'run_command', effect: 'execute', paths: [], commands: null },
      sandboxed,
    })
    const fetch: Call = { tool: 'web_fetch', effect: 'fetch', paths: [], address: 'example.org' }
    const server: Call = { tool: 'mcp__db__query', effect: 'external', paths: [], server: 'db' }
    const calls = { write, fenced: command(true), unfenced: command(false), fetch, server }
    const done = (authority: Authority) =>
      Object.entries(calls).flatMap(([name, call]) => (effective(authority, call) === 'allow' ? [name] : []))
    const tools = [...TOOLS, 'web_fetch']
    const spawner: Profile = { can_spawn_children: true }

    it.each([
      ['normal', 'normal', []],
      ['auto', 'auto', ['write', 'fenced']],
      ['auto', 'normal', ['write', 'fenced']],
      ['auto', 'plan', []],
      ['dangerous', 'dangerous', ['write', 'fenced', 'unfenced', 'fetch', 'server']],
      ['dangerous', 'auto', ['write', 'fenced', 'fetch', 'server']],
      ['dangerous', 'normal', ['write', 'fenced', 'fetch', 'server']],
      ['dangerous', 'plan', ['fetch']],
    ] as const)('of %s gives a sub-agent in %s mode what it does itself without one: %j', (mode, below, names) => {
      for (const can_ask_person of [true, false]) {
        const above = root({ mode, can_ask_person, known_tools: tools, nameable_tools: tools })
        const asked = { known_tools: tools, profile: { ...spawner, mode: below } }
        const first = child({ parent: fresh(above), ...asked })
        expect(first.permissions).toMatchObject({ can_ask_person: false, unasked: mode })
        expect(done(first.permissions)).toEqual(names)
        expect(above.permissions).not.toHaveProperty('unasked')
        if (below === 'plan') continue
        // And so down the tree, as long as nothing narrows it.
        const second = child({ parent: fresh(first), known_tools: tools })
        expect(second.permissions.unasked).toBe(mode)
        expect(done(second.permissions)).toEqual(names)
      }
    })

    it('gives it no yes that its parent would have to ask for', () => {
      const parent = root({ mode: 'normal' })
      parent.permissions.unasked = 'dangerous'
      expect(child({ parent: fresh(parent) }).permissions.unasked).toBe('normal')
    })

    it('is answered by the wider of the parent’s mode and what answers there', () => {
      const parent = root({ mode: 'auto', can_ask_person: false })
      parent.permissions.unasked = 'plan'
      expect(child({ parent: fresh(parent) }).permissions.unasked).toBe('auto')
    })
  })

  it('lets a sub-agent ask the person only if its parent can and the settings say so', () => {
    const settings = { ask_person: true }
    const asking = child({ settings }).permissions
    expect(asking).toMatchObject({ can_ask_person: true, allowed_tools: [...FILES, 'ask_user'] })
    const alone = child({ settings, parent: fresh(root({ can_ask_person: false })) }).permissions
    expect(alone).toMatchObject({ can_ask_person: false, allowed_tools: FILES })
  })
})

describe('tools that were asked for', () => {
  const narrow = fresh(root({ tools: ['read_file', 'git_status', 'ask_user', ...DELEGATION_TOOLS] }))
  const field = 'permissions.allowed_tools'

  it.each<[string, Asked, string[], Adjustment[]]>([
    [
      'unknown',
      { request: { tools: ['read_file', 'fly'] } },
      ['read_file'],
      [adjustment(field, 'fly', 'none', 'there is no such tool')],
    ],
    [
      'the parent’s not',
      { request: { tools: ['read_file', 'write_file'] } },
      ['read_file'],
      [adjustment(field, 'write_file', 'none', 'its parent may not use it')],
    ],
    [
      'a profile’s that are the parent’s not',
      { profile: { tools: ['read_file', 'write_file'] } },
      ['read_file'],
      [adjustment(field, 'write_file', 'none', 'its parent may not use it')],
    ],
    [
      'not in the profile',
      { profile: { tools: ['git_*'] }, request: { tools: ['read_file', 'git_status'] } },
      ['git_status'],
      [adjustment(field, 'read_file', 'none', 'the profile helper does not name it')],
    ],
    [
      'for delegation',
      { request: { tools: ['spawn', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'spawn', 'none', 'it may not have sub-agents')],
    ],
    [
      'for a person',
      { request: { tools: ['ask_user', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'ask_user', 'none', 'it cannot ask a person')],
    ],
    [
      'there in part',
      { request: { tools: ['git_*'] } },
      ['git_status'],
      [adjustment(field, 'git_*', '1 of 2', 'its parent may not use it')],
    ],
    [
      'not there at all',
      { request: { tools: ['spawn*'] } },
      [],
      [adjustment(field, 'spawn*', 'none', 'it may not have sub-agents')],
    ],
    ['whatever there is', { request: { tools: ['*'] } }, ['read_file', 'git_status'], []],
    [
      'asked for twice',
      { request: { tools: ['fly', 'fly'] } },
      [],
      [adjustment(field, 'fly', 'none', 'there is no such tool')],
    ],
    [
      'not set up',
      { request: { tools: ['web_search', 'read_file'] }, nameable_tools: ['web_search'] },
      ['read_file'],
      [adjustment(field, 'web_search', 'none', 'it is not set up here')],
    ],
    [
      'not set up, and in the profile alone',
      { profile: { tools: ['web_search', 'read_file'] }, nameable_tools: ['web_search'] },
      ['read_file'],
      [],
    ],
    [
      'of a server that is not there',
      { profile: { tools: ['mcp__moon__*', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'mcp__moon__*', 'none', 'no MCP server that is connected has it')],
    ],
    [
      'named at length',
      { request: { tools: ['x'.repeat(1000)] } },
      [],
      [adjustment(field, `${'x'.repeat(79)}…`, 'none', 'there is no such tool')],
    ],
  ])('and are %s', (_, asked, tools, adjustments) => {
    const contract = child({ parent: narrow, ...asked })
    expect(contract.permissions.allowed_tools).toEqual(tools)
    expect(contract.adjustments).toEqual(adjustments)
  })

  it('are gone with the MCP server that the profile takes away', () => {
    const contract = child({
      profile: { mcp_servers: ['tracker', 'moon'] },
      request: { tools: ['mcp__db__query', 'mcp__tracker__list'] },
    })
    expect(contract.permissions.allowed_tools).toEqual(['mcp__tracker__list'])
    expect(contract.adjustments).toEqual([
      adjustment(field, 'mcp__db__query', 'none', 'the profile helper does not name its MCP server'),
      adjustment('permissions.allowed_mcp_servers', 'moon', 'none', 'its parent has none of that name'),
    ])
  })

  it('refuse a profile that names one that does not exist', () => {
    expect(refusal({ profile: { tools: ['fly', 'read_file', 'swim*'] }, request: { tools: ['read_file'] } })).toBe(
      'Not spawned: the profile helper names unknown tools: fly, swim*. Use another profile, or none.',
    )
  })

  it('are not more because a parent has had one that is no longer there', () => {
    expect(child({ known_tools: ['read_file'] }).permissions.allowed_tools).toEqual(['read_file'])
  })
})
