import { describe, expect, it } from 'vitest'
import { delegationLab, echo, FIGURES, fakeDelegator, PROFILES } from './delegation-lab.js'

describe('spawn_agent', () => {
  it('waits for the result and gives it, status first', async () => {
    const fake = fakeDelegator({
      answer: () => ({ text: 'Found the bug', files_read: ['src/auth.ts'] }),
      adjustments: [{ field: 'model', asked: 'openai/o9', given: 'openai/gpt-5', reason: 'it is not allowed here' }],
    })
    const { tell } = await delegationLab(fake)
    const args = { task: 'Find the auth bug', scope: 'src', max_tool_calls: '10', mode: 'plan', model: 'openai/o9' }
    expect(await tell('spawn_agent', args)).toMatchObject({
      status: 'ok',
      delivers: ['a1'],
      content:
        `[COMPLETED]\nFound the bug\n${FIGURES}\nFiles read: src/auth.ts\n` +
        'Note: model openai/o9 was not given, openai/gpt-5 instead: it is not allowed here',
    })
    expect(fake.requests).toEqual([
      { task: 'Find the auth bug', scope: 'src', mode: 'plan', model: 'openai/o9', budget: { tool_calls: 10 } },
    ])
  })

  it.each([
    [{ outcome: 'error', reason: 'Connection refused' }, 'error', '[ERROR] error: Connection refused'],
    [{ outcome: 'timeout', reason: '60 s are over' }, 'error', '[ERROR] timeout: 60 s are over'],
    [{ outcome: 'cancelled', reason: null }, 'error', '[ERROR] cancelled: it ended'],
    [
      { outcome: 'gate_failed', reason: 'npm test: exit code 1' },
      'error',
      '[ERROR] gate_failed: npm test: exit code 1',
    ],
    [{ outcome: 'budget_exceeded', reason: '15 calls are used up' }, 'ok', '[INCOMPLETE] 15 calls are used up'],
  ] as const)('says how it ended: %j', async (closing, status, first) => {
    const { tell } = await delegationLab(echo(closing))
    expect(await tell('spawn_agent', { task: 'it' })).toMatchObject({
      status,
      content: `${first}\nabout it\n${FIGURES}`,
      delivers: ['a1'],
    })
  })

  it('refuses modes that are none', async () => {
    const fake = fakeDelegator()
    const { tell } = await delegationLab(fake)
    expect(await tell('spawn_agent', { task: 'x', mode: 'dangerous' })).toMatchObject({
      code: 'invalid_arguments',
      content: expect.stringContaining('mode: expected one of "plan", "auto", got "dangerous"'),
    })
    expect(fake.jobs).toEqual([])
  })

  it('runs several of one turn side by side, after one commit', async () => {
    const fake = fakeDelegator()
    const { turn, events } = await delegationLab(fake)
    const answers = turn(...['one', 'two', 'three'].map((task): [string, unknown] => ['spawn_agent', { task }]))
    await fake.spawned(3)
    for (const id of ['a3', 'a1', 'a2']) fake.close(id, { text: id })
    const texts = (await answers).map(({ content }) => content)
    expect(texts).toEqual(['a1', 'a2', 'a3'].map((id) => `[COMPLETED]\n${id}\n${FIGURES}`))
    const kinds = events.map(({ type }) => type)
    expect(kinds).toEqual([...Array(3).fill('tool.called'), 'commit', ...Array(3).fill('tool.finished')])
  })

  it("understands Claude Code's Task and Codex's spelling", async () => {
    const fake = fakeDelegator({ profiles: PROFILES, answer: () => ({}) })
    const { tell } = await delegationLab(fake)
    await tell('Task', { description: 'Find bug', prompt: 'Find the bug in src', subagent_type: 'coder' })
    await tell('spawn_agent', { message: 'Look', agent_type: 'researcher' })
    expect(fake.requests).toEqual([
      { task: 'Find the bug in src', profile: 'coder' },
      { task: 'Look', profile: 'researcher' },
    ])
  })

  it('says that it was stopped while the sub-agent was at work', async () => {
    const fake = fakeDelegator()
    const { tell, abort } = await delegationLab(fake)
    const waiting = tell('spawn_agent', { task: 'x' })
    await fake.spawned(1)
    abort.abort()
    fake.stop()
    expect(await waiting).toMatchObject({
      status: 'cancelled',
      content: '[RUNNING] The call was stopped while a1 was at work.',
    })
  })
})
