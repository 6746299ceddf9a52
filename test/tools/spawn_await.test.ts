import { describe, expect, it } from 'vitest'
import { delegationLab, echo, FIGURES, fakeDelegator } from './delegation-lab.js'

describe('spawn_await', () => {
  it('gives a block for each job in the order asked for, status first', async () => {
    const fake = fakeDelegator()
    const { tell, turn } = await delegationLab(fake)
    await turn(...[1, 2, 3, 4].map((n): [string, unknown] => ['spawn', { task: `task ${n}` }]))
    fake.close('a1', {
      text: 'found it',
      files_read: ['a.ts', 'b.ts'],
      files_changed: ['c.ts'],
      cost_usd: null,
      sub_agents: 2,
    })
    fake.close('a2', { outcome: 'error', reason: 'connection refused', text: '', tool_calls: 1 })
    fake.close('a3', { outcome: 'budget_exceeded', reason: '15 tool calls are used up', text: 'so far' })
    fake.close('a4', { files_read: ['d.ts'] }, { reused_from: { run_id: 'r7', agent_id: 'a2' } })
    expect(await tell('spawn_await', { job_ids: 'a3, a1,x9,a2,a4' })).toMatchObject({
      status: 'ok',
      delivers: ['a3', 'a1', 'a2', 'a4'],
      content: [
        `[a3: OK]\nIncomplete: 15 tool calls are used up\nso far\n${FIGURES}`,
        '[a1: OK]\nfound it\n3 tool calls, 1,234 tokens, cost unknown, 1.2s, 2 sub-agents\n' +
          'Files read: a.ts, b.ts\nFiles changed: c.ts',
        '[x9: NOT FOUND]',
        '[a2: ERROR]\nerror: connection refused\n(it said nothing)\n1 tool call, 1,234 tokens, $0.012, 1.2s',
        `[a4: OK]\nFrom the cache: a2 of run r7 did the same before. Nothing was run or paid for.\ndone\nFiles read: d.ts`,
      ].join('\n\n'),
    })
  })

  it('waits until the last of them is closed', async () => {
    const fake = fakeDelegator()
    const { tell, turn } = await delegationLab(fake)
    await turn(['spawn', { task: 'one' }], ['spawn', { task: 'two' }])
    fake.close('a2')
    let answered = false
    const waiting = tell('spawn_await', { job_ids: 'a1,a2' }).then((answer) => {
      answered = true
      return answer
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(answered).toBe(false)
    fake.close('a1', { text: 'late' })
    expect(await waiting).toMatchObject({ content: `[a1: OK]\nlate\n${FIGURES}\n\n[a2: OK]\ndone\n${FIGURES}` })
  })

  it('takes * for all that were not handed over yet, finished or not', async () => {
    const fake = fakeDelegator()
    const { tell, turn } = await delegationLab(fake)
    expect(await tell('spawn_await', { job_ids: '*' })).toEqual(
      expect.objectContaining({ status: 'ok', content: 'No jobs found.' }),
    )
    await turn(['spawn', { task: 'one' }], ['spawn', { task: 'two' }], ['spawn', { task: 'three' }])
    for (const id of ['a1', 'a2']) fake.close(id)
    fake.deliver('a1')
    const waiting = tell('spawn_await', { job_ids: '*' })
    fake.close('a3')
    expect(await waiting).toMatchObject({ delivers: ['a2', 'a3'] })
    for (const id of ['a2', 'a3']) fake.deliver(id)
    expect((await tell('spawn_await', { job_ids: ' * ' })).content).toBe('No jobs found.')
    // What was handed over can be read again by its name.
    expect(await tell('spawn_await', { job_ids: 'a1' })).toMatchObject({ delivers: ['a1'] })
    expect(await tell('spawn_await', { job_ids: 'a1' })).toMatchObject({ delivers: ['a1'] })
  })

  it.each([
    ['blanks', ' a2 ,\n a1 '],
    ['duplicates', 'a2,a1,a2'],
    ['empty places', ',a2,,a1,'],
    ['a list', ['a2', 'a1']],
    ['a list as text', '["a2", "a1"]'],
    ['blanks for commas', 'a2 a1'],
    ['an id and all', 'a2, *'],
  ])('is kind to %s', async (_, job_ids) => {
    const fake = echo()
    const { tell, turn } = await delegationLab(fake)
    await turn(['spawn', { task: 'one' }], ['spawn', { task: 'two' }])
    expect(await tell('spawn_await', { job_ids })).toMatchObject({ status: 'ok', delivers: ['a2', 'a1'] })
  })

  it('takes nothing for everything', async () => {
    const { tell, turn } = await delegationLab(echo())
    await turn(['spawn', { task: 'one' }])
    expect(await tell('spawn_await', { job_ids: ' ' })).toMatchObject({ status: 'ok', delivers: ['a1'] })
  })

  it('begins after the calls that were made in the same turn', async () => {
    const { turn } = await delegationLab(echo())
    const answers = await turn(['spawn', { task: 'x' }], ['spawn_await', { job_ids: '*' }], ['spawn', { task: 'y' }])
    expect(answers[1]).toMatchObject({ tool: 'spawn_await', delivers: ['a1', 'a2'] })
  })

  it('says which were still at work when it was stopped, and is no success then', async () => {
    const fake = fakeDelegator()
    const { tell, turn, abort } = await delegationLab(fake)
    await turn(['spawn', { task: 'one' }], ['spawn', { task: 'two' }])
    fake.close('a1')
    const waiting = tell('spawn_await', { job_ids: 'a2,a1' })
    await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    fake.stop()
    expect(await waiting).toMatchObject({
      status: 'cancelled',
      content: `[a2: RUNNING]\n\n[a1: OK]\ndone\n${FIGURES}`,
      delivers: ['a1'],
    })
  })
})
