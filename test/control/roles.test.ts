import { describe, expect, it } from 'vitest'
import { createConfigSchema } from '../../src/control/config/schema.js'
import { roleProfiles } from '../../src/control/index.js'
import {
  budgetFaults,
  type Contract,
  chooseChildModel,
  DELEGATION_DEFAULTS,
  DELEGATION_TOOLS,
  deriveContract,
  type Profile,
  permits,
  profileFaults,
  profileSchema,
  WRITING_TOOLS,
} from '../../src/domain/index.js'
import { createConfigSurroundings } from '../../src/library/project/configuration.js'
import { builtinToolNames } from '../../src/tools/index.js'
import { fresh, root } from '../domain/deriving.js'

const { test_paths } = DELEGATION_DEFAULTS
const found = roleProfiles({ test_paths })
const roles = new Map(found.map(({ name, profile }) => [name, profile as Profile]))
const role = (name: string) => roles.get(name) as Profile

describe('the roles that ship', () => {
  it('are five, each usable and from nowhere else', () => {
    expect([...roles.keys()]).toEqual(['researcher', 'planner', 'executor', 'reviewer', 'tester'])
    for (const { source, fault, notes, kept } of found) {
      expect({ source, fault, notes, kept }).toEqual({ source: { kind: 'role' }, fault: null, notes: [], kept: {} })
    }
  })

  it('have the figures of the seed', () => {
    const figures = [...roles].map(([name, { budget, context_share, can_spawn_children, may_spawn }]) => {
      const { tool_calls, context_tokens, wall_ms } = budget ?? {}
      return [name, tool_calls, context_tokens, context_share, wall_ms, can_spawn_children, may_spawn]
    })
    expect(figures).toEqual([
      ['researcher', 15, 12_500, 25, 300_000, false, undefined],
      ['planner', 10, 7500, 15, 300_000, false, undefined],
      ['executor', 30, 20_000, 50, 300_000, true, ['reviewer']],
      ['reviewer', 15, 12_500, 20, 300_000, false, undefined],
      ['tester', 20, 12_500, 25, 300_000, true, ['reviewer']],
    ])
  })

  it('name tools that there are, and no other', () => {
    const known = builtinToolNames()
    for (const [name, { tools = [] }] of roles) {
      expect(
        tools.filter((tool) => !known.includes(tool)),
        name,
      ).toEqual([])
      expect(new Set(tools).size, name).toBe(tools.length)
      expect(tools, name).toContain('read_file')
    }
  })

  it('have skills where they can load them, and no servers, of which they have no tools', () => {
    for (const [name, { tools = [], skills, mcp_servers }] of roles) {
      expect([name, skills, mcp_servers]).toEqual([name, tools.includes('load_skill') ? undefined : [], []])
    }
    expect(role('planner').skills).toEqual([])
  })

  it('are what a person could write down, word for word', () => {
    const schema = createConfigSchema(createConfigSurroundings())
    expect(schema.safeParse({ profiles: Object.fromEntries(roles) }).error).toBeUndefined()
    for (const profile of roles.values()) {
      expect(profileSchema.safeParse(profile).success).toBe(true)
      expect([...profileFaults(profile), ...budgetFaults(profile.budget ?? {})]).toEqual([])
    }
  })

  it.each(['researcher', 'planner'])('keep the %s from changing anything', (name) => {
    const { mode, tools = [] } = role(name)
    expect(mode).toBe('plan')
    expect(tools.filter((tool) => WRITING_TOOLS.includes(tool) || DELEGATION_TOOLS.includes(tool))).toEqual([])
  })

  it('let the reviewer run and not write', () => {
    const { tools = [], write_paths } = role('reviewer')
    expect(write_paths).toEqual([])
    expect(tools.filter((tool) => WRITING_TOOLS.includes(tool))).toEqual(['run_command', 'run_tests'])
  })

  it('let the tester write where tests are, wherever that is', () => {
    expect(role('tester').write_paths).toEqual(test_paths)
    const [tester] = roleProfiles({ test_paths: ['checks/**'] }).filter(({ name }) => name === 'tester')
    expect(tester?.profile?.write_paths).toEqual(['checks/**'])
    expect(role('tester').tools).toEqual(expect.arrayContaining(['write_file', 'edit_file', 'run_tests']))
  })

  it('give the delegation tools to those that may have sub-agents, and to no others', () => {
    const shipped = builtinToolNames().filter((tool) => DELEGATION_TOOLS.includes(tool))
    for (const [name, { tools = [], can_spawn_children }] of roles) {
      const had = shipped.filter((tool) => tools.includes(tool))
      expect(had, name).toEqual(can_spawn_children ? shipped : [])
    }
  })

  it('say in one sentence when to choose them, and in a few lines what is wanted', () => {
    for (const { description = '', system_prompt = '' } of roles.values()) {
      expect(description).toMatch(/^Choose it [^.]+\.$/)
      expect(description.length).toBeLessThanOrEqual(150)
      const lines = system_prompt.split('\n')
      expect(lines.length).toBeGreaterThanOrEqual(3)
      expect(lines.length).toBeLessThanOrEqual(6)
    }
  })
})

describe('the contract of a role', () => {
  /** As where no web search and no skills are set up. */
  const known_tools = builtinToolNames().filter((tool) => tool !== 'web_search' && tool !== 'load_skill')
  const parent = root({ known_tools, nameable_tools: [...builtinToolNames()], mode: 'auto' })

  function contractOf(name: string, above: Contract = parent, window: number | null = null): Contract {
    const profile = { name, profile: role(name), digest: 'f'.repeat(64) }
    const model = chooseChildModel(above, profile, {})
    if (!model.ok) throw new Error(model.message)
    const derived = deriveContract({
      parent: fresh(above),
      child: { id: 'a1', step_idx: 0 },
      profile,
      entry: null,
      request: { task: 'Mend the roof' },
      settings: DELEGATION_DEFAULTS,
      model: { ...model, window },
      known_tools,
      nameable_tools: ['web_search', 'load_skill'],
      prompt_digest: 'e'.repeat(64),
    })
    if (!derived.ok) throw new Error(derived.message)
    return derived.contract
  }

  const write = (contract: Contract, path: string) =>
    permits(contract.permissions, {
      tool: 'write_file',
      effect: 'write',
      paths: [{ path, access: 'write' }],
      depth: 1,
    }).decision

  it('lets the executor write anywhere, the tester where tests are, and the others nowhere', () => {
    const decisions = [...roles.keys()].map((name) => {
      const contract = contractOf(name)
      return [name, ...['src/roof.ts', 'test/roof.test.ts', 'pkg/__tests__/a.ts'].map((path) => write(contract, path))]
    })
    expect(decisions).toEqual([
      ['researcher', 'deny', 'deny', 'deny'],
      ['planner', 'deny', 'deny', 'deny'],
      ['executor', 'allow', 'allow', 'allow'],
      ['reviewer', 'deny', 'deny', 'deny'],
      ['tester', 'deny', 'allow', 'allow'],
    ])
  })

  it('lets the executor and the tester have reviewers, who have nobody', () => {
    for (const name of ['executor', 'tester']) {
      const contract = contractOf(name)
      const { can_spawn_children, allowed_profiles } = contract.permissions
      expect([name, can_spawn_children, allowed_profiles]).toEqual([name, true, ['reviewer']])
      expect(contractOf('reviewer', contract).permissions.can_spawn_children).toBe(false)
    }
    expect(contractOf('researcher').permissions.can_spawn_children).toBe(false)
  })

  it('has the budget of the role, and more context where the model has the room for it', () => {
    for (const [name, { budget, context_share = 0 }] of roles) {
      const { tool_calls, wall_ms, context_tokens } = contractOf(name).execution.budget
      expect({ tool_calls, wall_ms, context_tokens }).toEqual(budget)
      const roomy = contractOf(name, parent, 100_000).execution.budget.context_tokens
      // 200,000 characters are 50,000 tokens.
      expect(roomy).toBe(Math.max(context_tokens, Math.min(context_share * 1000, 50_000)))
    }
  })
})
