import { describe, expect, it } from 'vitest'
import {
  type Call,
  DELEGATION_TOOLS,
  type Profile,
  permits,
  type Rule,
  rootAuthority,
  unenforceable,
} from '../../src/domain/index.js'
import { child, DELEGATION, FILES, REQUEST, refusal, root, TOOLS } from './derive-lab.js'
import { adjustment, fresh } from './deriving.js'

describe('a contract that nobody asked anything special of', () => {
  it('is its parent’s, without delegation and without a person, in the usual budget', () => {
    expect(child()).toEqual({
      version: 1,
      parent: {
        run_id: 'r1',
        agent_id: 'root',
        depth: 1,
        step_idx: 0,
        task_prompt: 'Mend the roof',
        goal_summary: 'Mend the roof',
      },
      agent: { handle: null, profile_id: null, profile_digest: null, prompt_digest: 'e'.repeat(64) },
      step: { title: 'Count the tiles', description: 'Count the tiles\nand report', success_criteria: [] },
      permissions: {
        mode: 'normal',
        allowed_tools: FILES,
        allowed_skills: ['roofing', 'painting'],
        allowed_mcp_servers: ['tracker', 'db'],
        read_paths: [['**']],
        write_paths: [['**']],
        rules: [{ mode: 'normal', rules: [] }],
        network: 'tools',
        can_ask_person: false,
        unasked: 'normal',
        can_spawn_children: false,
        max_delegation_depth: 1,
      },
      model: { provider: 'p', model: 'm', source: 'inherited', allowed: ['p/m', 'p/cheap', 'pool/fast'] },
      execution: {
        attempt_timeout_ms: 60_000,
        max_retries: 1,
        close_on_completion: true,
        budget: {
          tool_calls: 15,
          turns: 17,
          context_tokens: 8192,
          wall_ms: 60_000,
          total_tokens: 65_536,
          cost_usd: null,
          sub_agents: 0,
        },
      },
      // In normal mode it would have to ask before it writes, and it cannot.
      workspace: { isolation: 'read_only', base: 'c0ffee', owns: ['**'] },
      outputs: {
        report_format: 'markdown',
        report_path_pattern: '.retinue/reports/<run>/<agent>-step-<idx>-result.md',
      },
      adjustments: [],
    })
  })

  it('has from the request what the request says, and from the profile what it says', () => {
    const contract = child({
      parent: fresh(root({ mode: 'auto', max_concurrent: 3, budget: { cost_usd: 4 } })),
      profile: {
        tools: ['read_file', 'git_*', 'mcp__tracker__*', 'spawn*'],
        skills: ['roof*'],
        mcp_servers: ['tracker'],
        model: 'p/cheap',
        mode: 'normal',
        budget: { tool_calls: 30, wall_ms: 90_000 },
        attempt_timeout_ms: 20_000,
        max_retries: 3,
        can_spawn_children: true,
      },
      request: {
        title: ' Tiles \n',
        tools: ['read_file', 'git_status', 'spawn'],
        owns: ['src/tiles'],
        checks: [{ kind: 'command', command: 'npm test' }],
        success_criteria: ['each is counted'],
        inputs: [{ from: 'a7', title: 'Look', outcome: 'completed', text: 'much text' }],
        budget: { tool_calls: 20, total_tokens: 50_000 },
        max_retries: 2,
      },
      settings: { ask_person: true, report_path_pattern: null },
    })
    expect(contract).toMatchObject({
      agent: { profile_id: 'helper', profile_digest: 'f'.repeat(64) },
      step: {
        title: 'Tiles',
        success_criteria: ['each is counted'],
        inputs: [{ from: 'a7', outcome: 'completed' }],
        checks: [{ kind: 'command', command: 'npm test' }],
      },
      permissions: {
        mode: 'normal',
        allowed_tools: ['read_file', 'git_status', 'spawn'],
        allowed_skills: ['roofing'],
        allowed_mcp_servers: ['tracker'],
        write_paths: [['**'], ['src/tiles']],
        rules: [
          { mode: 'auto', rules: [] },
          { mode: 'normal', rules: [] },
        ],
        can_ask_person: true,
        unasked: 'auto',
        can_spawn_children: true,
        max_delegation_depth: 1,
      },
      model: { provider: 'p', model: 'cheap', source: 'profile', allowed: ['p/cheap'] },
      execution: {
        attempt_timeout_ms: 20_000,
        max_retries: 2,
        max_concurrent: 3,
        budget: {
          tool_calls: 20,
          turns: 22,
          context_tokens: 8192,
          wall_ms: 90_000,
          total_tokens: 50_000,
          cost_usd: 1,
          sub_agents: 10,
        },
      },
      workspace: { isolation: 'read_only', owns: ['src/tiles'] },
      outputs: { report_path_pattern: null },
      adjustments: [],
    })
    // The texts of inputs are in the task, not in the contract.
    expect(contract.step.inputs).toEqual([{ from: 'a7', outcome: 'completed' }])
  })

  it('takes an absent list for the parent’s and an empty one for none', () => {
    const none = child({ profile: { tools: [], skills: [], mcp_servers: [] } }).permissions
    expect(none).toMatchObject({ allowed_tools: [], allowed_skills: [], allowed_mcp_servers: [] })
    expect(child({ request: { tools: [] } }).permissions.allowed_tools).toEqual([])
    expect(child({ request: { owns: [] } }).permissions.write_paths).toEqual([['**'], []])
    const all = child({ profile: {} }).permissions
    expect(all).toMatchObject({ allowed_tools: FILES, allowed_skills: ['roofing', 'painting'] })
  })

  it('keeps its title short and whole', () => {
    expect(child({ request: { task: `\n\n  ${'🏠'.repeat(100)}` } }).step.title).toBe(`${'🏠'.repeat(79)}…`)
    expect(child({ request: { title: '  ' } }).step.title).toBe('Count the tiles')
  })

  it('keeps the rules that its parent lives by, the allowing ones too', () => {
    const rules: Rule[] = [{ decision: 'allow', tool: 'run_command', pattern: null }]
    const command: Call = { tool: 'run_command', effect: 'execute', paths: [], commands: null, sandboxed: true }
    expect(permits(child({ parent: fresh(root({ rules })) }).permissions, command).decision).toBe('allow')
  })
})

describe('how deep a tree may be', () => {
  const spawner: Profile = { can_spawn_children: true }

  it('is counted down, and the last level has no delegation', () => {
    const first = child({ profile: spawner })
    expect(first.permissions).toMatchObject({
      can_spawn_children: true,
      max_delegation_depth: 1,
      allowed_tools: [...FILES, ...DELEGATION_TOOLS],
    })
    const second = child({ parent: fresh(first, {}, 'a1'), profile: spawner })
    expect(second.permissions).toMatchObject({
      can_spawn_children: false,
      max_delegation_depth: 0,
      allowed_tools: FILES,
    })
    expect(second.parent).toMatchObject({
      agent_id: 'a1',
      depth: 2,
      task_prompt: 'Count the tiles\nand report',
      goal_summary: 'Mend the roof',
    })
    expect(second.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'Maximum sub-agent depth (2) exceeded'),
    ])
    expect(refusal({ parent: fresh(second, {}, 'a1.1') })).toBe('Maximum sub-agent depth (2) exceeded')
  })

  it.each([
    ['where delegation is off', root({ delegation: { ...DELEGATION, enabled: false } })],
    ['where it is absent', root({ delegation: undefined as never })],
    ['in plan mode', root({ mode: 'plan' })],
    ['without sub-agents in the budget', root({ budget: { sub_agents: 0 } })],
    ['where no level is left', root({ delegation: { ...DELEGATION, max_depth: 0 } })],
    ['of a sub-agent whose profile does not say so', child()],
  ])('is nothing %s', (_, contract) => {
    expect(contract.permissions.can_spawn_children).toBe(false)
    expect(contract.permissions.allowed_tools).toEqual(expect.not.arrayContaining(DELEGATION_TOOLS))
    expect(refusal({ parent: fresh(contract) })).toBe('this agent may not delegate')
  })

  it('is nothing where a contract says both yes and no', () => {
    const contract = root()
    contract.permissions.max_delegation_depth = 0
    expect(refusal({ parent: fresh(contract) })).toBe('this agent may not delegate')
  })

  it('ends in plan mode, and where no sub-agents are left for the sub-agent', () => {
    const plan = child({ profile: { ...spawner, mode: 'plan' } })
    expect(plan.permissions).toMatchObject({ mode: 'plan', can_spawn_children: false, allowed_tools: FILES })
    expect(plan.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'plan mode has no sub-agents'),
    ])
    const last = child({ parent: fresh(root(), { sub_agents: 1 }), profile: spawner })
    expect(last.permissions.can_spawn_children).toBe(false)
    expect(last.execution.budget.sub_agents).toBe(0)
    expect(last.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'its budget has no sub-agents'),
    ])
  })
})

describe('what a sub-agent owns', () => {
  it.each([
    ['/etc', '"/etc" in owns is not relative to the workspace'],
    ['~/x', '"~/x" in owns is not relative to the workspace'],
    ['C:/x', '"C:/x" in owns is not relative to the workspace'],
    ['src/../..', '"src/../.." in owns leaves the workspace: .. is not allowed'],
    ['{src,..}/x', '"{src,..}/x" in owns leaves the workspace: .. is not allowed'],
    ['src\\x', '"src\\x" in owns has a backslash: write folders with /'],
    ['!src', '"!src" in owns negates: list what is meant instead'],
    [' ', 'an empty path in owns names nothing: write . for the whole workspace'],
  ])('is not %j', (glob, fault) => {
    expect(refusal({ request: { owns: ['docs', glob] } })).toBe(`Not spawned: ${fault}.`)
  })

  it('is within what its parent may write, and it is said where it is not', () => {
    const parent = fresh(root({ write_paths: [['**'], ['src', 'docs/*.md']] }))
    const owns = ['src/a/**', './src', 'src/*.ts', 'docs/*.md', 'docs', '**/*.ts', '.']
    const contract = child({ parent, request: { owns } })
    expect(contract.permissions.write_paths).toEqual([['**'], ['src', 'docs/*.md'], owns])
    expect(contract.adjustments).toEqual(
      ['docs', '**/*.ts', '.'].map((asked) =>
        adjustment(
          'permissions.write_paths',
          asked,
          'what of it is in src, docs/*.md',
          'its parent may write src, docs/*.md',
        ),
      ),
    )
    // What matches the name of the folder is not what is in it.
    expect(child({ parent: fresh(root({ write_paths: [['.*']] })), request: { owns: ['.'] } }).adjustments).toEqual([
      adjustment('permissions.write_paths', '.', 'what of it is in .*', 'its parent may write .*'),
    ])
    expect(child({ parent: fresh(root({ write_paths: [[]] })), request: { owns: ['src'] } }).adjustments).toEqual([
      adjustment('permissions.write_paths', 'src', 'none', 'its parent may write nothing'),
    ])
  })
})

it('an empty task is refused', () => {
  expect(refusal({ request: { task: ' \n' } })).toBe('Not spawned: the task is empty. Say what the sub-agent is to do.')
})

describe('the contract of a root agent', () => {
  it('lets it delegate as far as the settings say', () => {
    const contract = root({ max_concurrent: 4, delegation: { ...DELEGATION, models: ['p/m', 'fast', 'pool/fast'] } })
    expect(contract.permissions).toMatchObject({
      can_spawn_children: true,
      max_delegation_depth: 2,
      allowed_tools: TOOLS,
    })
    expect(contract.permissions).toEqual(rootAuthority(REQUEST))
    expect(contract.execution).toMatchObject({ max_concurrent: 4, budget: { sub_agents: 100 } })
    expect(contract.model.allowed).toEqual(['p/m', 'pool/fast'])
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
  })
})
