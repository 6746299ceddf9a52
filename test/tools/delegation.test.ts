import { describe, expect, it } from 'vitest'
import { DELEGATION_TOOLS } from '../../src/domain/index.js'
import { builtinTools, createToolRegistry, DEFAULT_LIMITS } from '../../src/tools/index.js'
import type { authorityWith } from './authority.js'
import { delegationLab, echo, PROFILES } from './delegation-lab.js'

describe('what models are told about the tools', () => {
  const definitions = (profiles: typeof PROFILES | []) =>
    createToolRegistry(builtinTools({ profiles })).definitions(DELEGATION_TOOLS, DEFAULT_LIMITS)
  const profileOf = (profiles: typeof PROFILES | []) =>
    definitions(profiles).map(({ parameters }) => (parameters.properties as Record<string, unknown>).profile)

  it('names the profiles that exist, and has no enum where there are none', () => {
    const some = { type: 'string', enum: ['researcher', 'coder'] }
    expect(profileOf(PROFILES)).toEqual([some, undefined, some, undefined])
    expect(profileOf([])).toEqual([{ type: 'string' }, undefined, { type: 'string' }, undefined])
  })

  it('has the parameters of the seeds', () => {
    const shapes = definitions([]).map(({ name, parameters }) => {
      const { properties, required } = parameters as { properties: object; required: string[] }
      return [name, Object.keys(properties).join(' '), required.join(' ')]
    })
    const more = 'owns checks schema model cache'
    expect(shapes).toEqual([
      ['spawn', `task profile context system_prompt tools ${more}`, 'task'],
      ['spawn_await', 'job_ids', 'job_ids'],
      ['spawn_agent', `task scope max_tool_calls mode profile ${more}`, 'task'],
      ['delegate_task', 'plan subtasks', 'plan subtasks'],
    ])
  })

  it('costs a parent less than 700 tokens', () => {
    // The runtime's own estimate: 3.5 bytes to a token.
    expect(Buffer.byteLength(JSON.stringify(definitions([]))) / 3.5).toBeLessThan(700)
  })
})

describe('who may delegate', () => {
  const calls: [string, unknown][] = [
    ['spawn', { task: 'x' }],
    ['spawn_await', { job_ids: '*' }],
    ['spawn_agent', { task: 'x' }],
    ['delegate_task', { plan: 'p', subtasks: [{ task: 'x' }] }],
  ]

  it.each([
    [
      'one whose contract does not say so',
      { can_spawn_children: false },
      1,
      'this agent may not delegate',
      'can_spawn_children',
    ],
    [
      'one at the bottom of the tree',
      { can_spawn_children: false, max_delegation_depth: 0 },
      2,
      'Maximum sub-agent depth (2) exceeded',
      'max_delegation_depth',
    ],
    ['one in plan mode', { mode: 'plan', rules: [] }, 0, 'plan mode changes nothing', 'mode plan'],
    ['one that lacks the tools', { allowed_tools: ['read_file'] }, 0, 'the contract does not allow', 'allowed_tools'],
  ] as const)('not %s', async (_, more, depth, reason, rule) => {
    const { tell } = await delegationLab(null, { authority: more as Parameters<typeof authorityWith>[0], depth })
    for (const [tool, args] of calls) {
      expect(await tell(tool, args)).toMatchObject({
        code: 'denied',
        rule,
        content: expect.stringContaining(`Not allowed: ${reason}`),
      })
    }
  })

  it('anybody else in every other mode, unless a rule says no', async () => {
    for (const mode of ['normal', 'auto', 'dangerous'] as const) {
      const { tell } = await delegationLab(echo(), { authority: { mode } })
      for (const [tool, args] of calls) expect(await tell(tool, args)).toMatchObject({ status: 'ok' })
    }
    const { tell } = await delegationLab(echo(), { authority: { mode: 'auto', rules: ['deny delegate_task'] } })
    expect(await tell('delegate_task', calls[3]?.[1])).toMatchObject({ code: 'denied', rule: 'deny delegate_task' })
    expect(await tell('spawn', { task: 'x' })).toMatchObject({ status: 'ok' })
  })

  it('nobody without what does it', async () => {
    const { tell } = await delegationLab(null)
    for (const [tool, args] of calls) {
      expect(await tell(tool, args)).toMatchObject({
        code: 'invalid_arguments',
        content: 'this agent may not delegate',
      })
    }
  })
})

describe('what the log says of a call', () => {
  it('names the sub-agents whose results were handed over, and nothing where there are none', async () => {
    const { turn } = await delegationLab(echo())
    const [spawned, waited] = await turn(['spawn', { task: 'x' }], ['spawn_await', { job_ids: 'a1' }])
    expect(spawned).not.toHaveProperty('delivers')
    expect(waited).toHaveProperty('delivers', ['a1'])
    const [none] = await turn(['spawn_await', { job_ids: 'x9' }])
    expect(none).toMatchObject({ content: '[x9: NOT FOUND]' })
    expect(none).not.toHaveProperty('delivers')
  })

  it('gives each call its own id', async () => {
    const fake = echo()
    const { turn } = await delegationLab(fake)
    await turn(['spawn', { task: 'x' }], ['spawn_agent', { task: 'y' }])
    expect(fake.jobs.map(({ call_id }) => call_id)).toEqual(['c1', 'c2'])
  })
})
