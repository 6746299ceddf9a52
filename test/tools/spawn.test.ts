import { describe, expect, it } from 'vitest'
import { delegationLab, fakeDelegator, PROFILES } from './delegation-lab.js'

describe('spawn', () => {
  it('gives the job id at once, while the sub-agent is at work', async () => {
    const fake = fakeDelegator()
    const { tell } = await delegationLab(fake)
    expect(await tell('spawn', { task: 'look' })).toMatchObject({ status: 'ok', content: 'a1' })
    expect(await tell('spawn', { task: 'look again' })).toMatchObject({ status: 'ok', content: 'a2' })
    expect(fake.jobs).toMatchObject([
      { id: 'a1', call_id: 'c1', index: 0, closed: null },
      { id: 'a2', call_id: 'c2', index: 0, closed: null },
    ])
  })

  it('hands over everything that was asked for, tools by our names', async () => {
    const fake = fakeDelegator({ profiles: PROFILES })
    const { tell } = await delegationLab(fake)
    await tell('spawn', {
      task: ' look at it ',
      profile: 'researcher',
      context: 'the context',
      system_prompt: 'be brief',
      tools: 'shell, Read,mcp__x__*, unheard_of',
      owns: ['docs/**'],
      checks: ['npm test'],
      schema: { type: 'object' },
      model: 'openai/gpt-5',
      cache: true,
    })
    expect(fake.requests).toEqual([
      {
        task: 'look at it',
        profile: 'researcher',
        context: 'the context',
        system_prompt: 'be brief',
        tools: ['run_command', 'read_file', 'mcp__x__*', 'unheard_of'],
        owns: ['docs/**'],
        checks: [
          { kind: 'command', command: 'npm test' },
          { kind: 'schema', schema: { type: 'object' } },
        ],
        model: 'openai/gpt-5',
        cache: true,
      },
    ])
  })

  it('understands what weak models write: lists for words, words for lists, blanks for nothing', async () => {
    const fake = fakeDelegator({ profiles: PROFILES })
    const { tell } = await delegationLab(fake)
    const blank = { profile: '', context: '', system_prompt: ' ', tools: '', model: '', schema: {} }
    for (const args of [
      { task: 'one', tools: ['read', 'grep'], owns: 'src/{a,b}/**, docs/**', checks: 'node -e "f(1,2)"' },
      { task: 'two', ...blank, owns: null, checks: null, cache: 'true' },
      { task: 'three', tools: [], schema: '{"type":"string"}' },
    ]) {
      expect(await tell('spawn', args)).toMatchObject({ status: 'ok' })
    }
    expect(fake.requests).toEqual([
      {
        task: 'one',
        tools: ['read_file', 'search_files'],
        owns: ['src/{a,b}/**', 'docs/**'],
        checks: [{ kind: 'command', command: 'node -e "f(1,2)"' }],
      },
      { task: 'two', cache: true },
      { task: 'three', tools: [], checks: [{ kind: 'schema', schema: { type: 'string' } }] },
    ])
  })

  it('says after the id what was asked for and not given', async () => {
    const adjustments = [
      { field: 'permissions.mode', asked: 'auto', given: 'plan', reason: 'the parent is in plan mode' },
      { field: 'permissions.allowed_tools', asked: 'web_fetch', given: 'none', reason: 'the parent may not' },
    ]
    const { tell } = await delegationLab(fakeDelegator({ adjustments }))
    expect((await tell('spawn', { task: 'x' })).content).toBe(
      'a1\n' +
        'Note: mode auto was not given, plan instead: the parent is in plan mode\n' +
        'Note: allowed_tools web_fetch was not given: the parent may not',
    )
  })

  it('refuses an empty task, an unknown profile and what is no JSON, and starts nothing', async () => {
    const fake = fakeDelegator({ profiles: PROFILES })
    const { tell } = await delegationLab(fake)
    for (const [args, message] of [
      [{}, /^task is missing\nExpected: spawn\(task: string, profile\?/],
      [{ task: ' \n' }, /^task: must not be empty, got/],
      [{ task: 'x', profile: 'wizard' }, /^profile: expected one of "researcher", "coder", got "wizard"/],
      ['{"task": "x', /^the arguments are not JSON/],
      ['[]', /^the arguments must be one JSON object/],
    ] as const) {
      expect(await tell('spawn', args)).toMatchObject({
        code: 'invalid_arguments',
        content: expect.stringMatching(message),
      })
    }
    expect(fake.jobs).toEqual([])
    const none = await delegationLab(fakeDelegator())
    expect(await none.tell('spawn', { task: 'x', profile: 'wizard' })).toMatchObject({
      code: 'invalid_arguments',
      content: 'profile: there is no profile "wizard"; none is configured, leave it out',
    })
  })

  it('passes a refusal of the mechanism on, as an error', async () => {
    const refuse = 'Not spawned: the budget of 50 sub-agents is used up.'
    const { tell } = await delegationLab(fakeDelegator({ answer: () => ({ refuse }) }))
    expect(await tell('spawn', { task: 'x' })).toMatchObject({ status: 'error', content: refuse })
    expect(await tell('spawn_agent', { task: 'x' })).toMatchObject({
      status: 'error',
      content: `[ERROR] ${refuse}`,
    })
  })
})
