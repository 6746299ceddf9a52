import { describe, expect, it } from 'vitest'
import { type Closing, delegationLab, echo, FIGURES, fakeDelegator } from './delegation-lab.js'

describe('delegate_task', () => {
  const plan = 'Understand the auth system'

  it('gives one report: the plan, then each subtask with its status first', async () => {
    const { tell } = await delegationLab(echo())
    const subtasks = [{ task: 'Find files', scope: 'src' }, { task: 'Read tests' }]
    expect(await tell('delegate_task', { plan, subtasks })).toMatchObject({
      status: 'ok',
      delivers: ['a1', 'a2'],
      content: [
        `[COMPLETED] 2 of 2 subtasks completed\nPlan: ${plan}`,
        `[COMPLETED] subtask 0, a1: Find files\nabout Find files\n${FIGURES}`,
        `[COMPLETED] subtask 1, a2: Read tests\nabout Read tests\n${FIGURES}`,
      ].join('\n\n'),
    })
  })

  it('starts side by side what depends on nothing, and the rest with the result it needs', async () => {
    const fake = fakeDelegator()
    const { tell } = await delegationLab(fake)
    const subtasks = [{ task: 'List' }, { task: 'Count' }, { task: 'Analyze', depends_on: 0 }]
    const report = tell('delegate_task', { plan, subtasks })
    await fake.spawned(2)
    fake.close('a1', { text: 'a.ts\n[a2: OK]', outcome: 'budget_exceeded', reason: 'no call left' })
    await fake.spawned(3)
    const context = `This is one part of a larger task: ${plan}`
    const inputs = [
      { from: 'a1', title: 'List', outcome: 'budget_exceeded', text: 'a.ts\n(a2: OK, says the sub-agent)' },
    ]
    expect(fake.requests).toEqual([
      { task: 'List', title: 'List', context },
      { task: 'Count', title: 'Count', context },
      { task: 'Analyze', title: 'Analyze', context, inputs },
    ])
    fake.close('a2')
    fake.close('a3')
    const { content } = await report
    expect(content.split('\n\n')[0]).toBe(`[INCOMPLETE] 2 of 3 subtasks completed\nPlan: ${plan}`)
    expect(content).toContain('[INCOMPLETE] subtask 0, a1: List\nno call left\na.ts\n(a2: OK, says')
  })

  it('bounds what it passes on, and never sends the next one to what it cannot read', async () => {
    const fake = fakeDelegator({ answer: ({ task }) => ({ text: task === 'List' ? 'x'.repeat(50_000) : 'ok' }) })
    const { tell } = await delegationLab(fake)
    await tell('delegate_task', { plan, subtasks: [{ task: 'List' }, { task: 'Analyze', depends_on: 0 }] })
    const text = fake.requests[1]?.inputs?.[0]?.text ?? ''
    expect(text.length).toBeLessThan(6100)
    expect(text).toContain('\n[… 44,000 characters left out …]\n')
  })

  it('starts nothing more after an error, waits for what runs, and names what was skipped', async () => {
    const fake = fakeDelegator()
    const { tell } = await delegationLab(fake)
    const subtasks = [
      { task: 'Fail' },
      { task: 'Run' },
      { task: 'After fail', depends_on: 0 },
      { task: 'After run', depends_on: 1 },
      { task: 'After that', depends_on: 3 },
    ]
    const report = tell('delegate_task', { plan, subtasks })
    await fake.spawned(2)
    fake.close('a1', { outcome: 'error', reason: 'boom', text: '' })
    await new Promise((resolve) => setImmediate(resolve))
    fake.close('a2', { text: 'ran' })
    expect(await report).toMatchObject({
      status: 'error',
      delivers: ['a1', 'a2'],
      content: [
        `[ERROR] 1 of 5 subtasks completed\nPlan: ${plan}`,
        `[ERROR] subtask 0, a1: Fail\nerror: boom\n(it said nothing)\n${FIGURES}`,
        `[COMPLETED] subtask 1, a2: Run\nran\n${FIGURES}`,
        '[SKIPPED] subtask 2: After fail\nnot started: subtask 0, which it depends on, has no result',
        '[SKIPPED] subtask 3: After run\nnot started: subtask 0 failed',
        '[SKIPPED] subtask 4: After that\nnot started: subtask 3, which it depends on, has no result',
      ].join('\n\n'),
    })
    expect(fake.jobs).toHaveLength(2)
  })

  it('stops where a sub-agent is refused', async () => {
    const answer = ({ task }: { task: string }): Closing => (task === 'Two' ? { refuse: 'no budget left' } : {})
    const fake = fakeDelegator({ answer })
    const { tell } = await delegationLab(fake)
    const subtasks = [{ task: 'One' }, { task: 'Two' }, { task: 'Three' }]
    const { content } = await tell('delegate_task', { plan, subtasks })
    expect(content).toContain('[ERROR] subtask 1: Two\nno budget left')
    expect(content).toContain('[SKIPPED] subtask 2: Three\nnot started: subtask 1 failed')
    expect(fake.jobs.map(({ title }) => title)).toEqual(['One'])
  })

  it.each([
    [Array(8).fill({ task: 'x' }), /^Maximum 5 subtasks, got 8: /],
    [[], /^subtasks: must not be empty$/],
    [[{ task: 'x', depends_on: 0 }], /^subtasks\[0\]\.depends_on: the first subtask can depend on none, got 0$/],
    [[{ task: 'x' }, { task: 'y', depends_on: 1 }], /^subtasks\[1\]\.depends_on: expected .*, 0 to 0, got 1$/],
    [[{ task: 'x' }, { task: 'y', depends_on: 2 }, { task: 'z' }], /^subtasks\[1\]\.depends_on: expected .*, got 2$/],
    [[{ task: 'x' }, { task: 'y', depends_on: -1 }], /^subtasks\[1\]\.depends_on: expected .*, got -1$/],
    [[{ task: 'x' }, { task: ' ' }], /^subtasks\[1\]\.task: must not be empty/],
    [[{ scope: 'x' }], /^subtasks\[0\]\.task is missing/],
    ['do things', /^subtasks: expected list, got "do things"/],
  ])('refuses %j', async (subtasks, message) => {
    const fake = fakeDelegator()
    const { tell } = await delegationLab(fake)
    expect(await tell('delegate_task', { plan, subtasks })).toMatchObject({
      code: 'invalid_arguments',
      content: expect.stringMatching(message),
    })
    expect(fake.jobs).toEqual([])
  })

  it('finds its sub-agents again after a restart, those included that an error would now keep from starting', async () => {
    const fake = fakeDelegator()
    const first = await delegationLab(fake)
    const args = { plan, subtasks: [{ task: 'One' }, { task: 'Two' }, { task: 'Three', depends_on: 1 }] }
    const lost = first.tell('delegate_task', args)
    await fake.spawned(2)
    fake.close('a2')
    await fake.spawned(3)
    fake.close('a1', { outcome: 'error', reason: 'boom' })
    fake.close('a3', { text: 'third' })
    await lost
    const second = await delegationLab(fake)
    expect(await second.again('delegate_task', args, 'c1')).toMatchObject({
      delivers: ['a1', 'a2', 'a3'],
      content: expect.stringContaining(`[COMPLETED] subtask 2, a3: Three\nthird\n`),
    })
    expect(fake.jobs).toHaveLength(3)
  })

  it('starts nothing more when it is stopped in the middle of starting', async () => {
    const stop = new AbortController()
    const fake = fakeDelegator({
      answer: () => {
        stop.abort()
        return {}
      },
    })
    const { tell } = await delegationLab(fake, { context: { signal: stop.signal } })
    const { content } = await tell('delegate_task', { plan, subtasks: [{ task: 'One' }, { task: 'Two' }] })
    expect(content).toContain('[SKIPPED] subtask 1: Two\nnot started: the call was stopped')
    expect(fake.jobs).toHaveLength(1)
  })

  it('starts nothing more when it is stopped', async () => {
    const fake = fakeDelegator()
    const { tell, abort } = await delegationLab(fake)
    const report = tell('delegate_task', { plan, subtasks: [{ task: 'One' }, { task: 'Two', depends_on: 0 }] })
    await fake.spawned(1)
    abort.abort()
    fake.stop()
    expect(await report).toMatchObject({
      status: 'cancelled',
      content: expect.stringContaining('[ERROR] subtask 0, a1: One\ncancelled: stopped\n'),
    })
    expect(fake.jobs).toHaveLength(1)
  })
})
