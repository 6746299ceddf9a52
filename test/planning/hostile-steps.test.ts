import { describe, expect, it } from 'vitest'
import { dataOf } from '../support/bench.js'
import { comeTo, everything, planOf, rolesIn, STEP, scene, stepOf } from '../support/plan-attacks.js'
import { sampled } from '../support/sampled.js'
import { describeSandboxed } from '../support/sandbox.js'

const YES = { approve: 'yes' } as const
const GOOD = { text: JSON.stringify({ summary: 'All is good.', findings: [] }) }
const DONE = { text: 'Done.' }
const write = (path: string) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })
const command = (text: string) => ({ calls: [{ run_command: { command: text } }] })

describeSandboxed('a step that writes what it does not own', () => {
  it.each<[string, object[]]>(
    sampled<[string, object[]]>(
      [
        ['with a tool', [write('theirs/a.txt')]],
        ['with a command', [command('echo x > theirs/a.txt')]],
        ['by a link', [command('ln -s ../theirs mine/link && echo x > mine/link/a.txt')]],
        ['by a commit', [command('echo x > theirs/a.txt; git commit -qam x')]],
        ['that which git runs', [write('.git/hooks/pre-commit'), command('echo x > .git/hooks/pre-commit')]],
        ['a file above the folder', [write('../out.txt'), command('echo x > ../out.txt')]],
      ],
      3,
    ),
  )('%s changes nothing of it', async (_, turns) => {
    const { retinue, cwd, before } = await scene({ a1: [...turns, DONE], 'a*': [GOOD] })
    const { log, outcome } = await comeTo(retinue.executePlan(stepOf({}), YES))
    expect(everything(cwd)).toMatchObject({ ...before })
    expect(Object.keys(everything(cwd)).filter((path) => !(path in before) && !path.startsWith('mine/'))).toEqual([])
    expect(outcome.steps[0]?.files_changed.filter((path) => !path.startsWith('mine/'))).toEqual([])
    const refused = dataOf(log, 'tool.refused').length
    const violated = dataOf(log, 'agent.subagent_closed').filter(({ close_reason }) =>
      /outside|policy/.test(close_reason),
    )
    const failed = dataOf(log, 'tool.finished').filter(({ status }) => status !== 'ok')
    expect(refused + violated.length + failed.length).toBeGreaterThan(0)
  })
})

describe('a step that owns everything', () => {
  it('still does not own what is protected', async () => {
    const turns = [write('.git/hooks/pre-commit'), write('.retinue/plans/x.yaml'), write('mine/b.txt'), DONE]
    const { retinue, cwd, before } = await scene({ a1: turns, 'a*': [GOOD] })
    const { log } = await comeTo(retinue.executePlan(stepOf({ owns: ['**'] }), YES))
    expect(dataOf(log, 'tool.refused').map(({ tool, code }) => [tool, code])).toEqual([
      ['write_file', 'denied'],
      ['write_file', 'denied'],
    ])
    expect(everything(cwd)).toEqual({ ...before, 'mine/b.txt': 'x\n' })
  })
})

describe('a planner that is asked for another rest', () => {
  const first = planOf({
    on_failure: 'replan',
    replans: 1,
    steps: [STEP, { ...STEP, id: 'two', title: 'Fail', checks: ['false'], owns: ['two/**'], depends_on: ['one'] }],
  })
  const turns = {
    a1: [write('mine/b.txt'), DONE],
    a2: [DONE],
  }

  it('and names a finished step again does not have it run again', async () => {
    const again = planOf({
      steps: [
        { ...STEP, description: 'Write it all again' },
        { ...STEP, id: 'three', description: 'Write the rest', owns: ['three/**'] },
      ],
    })
    const { retinue, cwd, before } = await scene({
      ...turns,
      'a*': [
        {
          branches: [
            { when: { contains: 'Plan what is left to do' }, steps: [{ text: JSON.stringify(again) }] },
            { when: { contains: 'Write it all again' }, steps: [write('mine/again.txt'), DONE] },
            { steps: [write('three/c.txt'), DONE] },
          ],
        },
      ],
    })
    const { outcome, log } = await comeTo(retinue.executePlan(first, YES))
    const tasks = dataOf(log, 'agent.subagent_created').map(({ task }) => task)
    expect(tasks.filter((task) => task.includes('Write it all again') && !task.includes('Plan what is left'))).toEqual(
      [],
    )
    expect(outcome.steps.filter(({ id }) => id === 'one')).toMatchObject([{ status: 'completed', attempts: 1 }])
    const ended = dataOf(log, 'plan.step_ended').map(({ step }) => step)
    expect(new Set(ended).size).toBe(ended.length)
    expect(Object.keys(everything(cwd))).not.toContain('mine/again.txt')
    expect(everything(cwd)).toMatchObject(before)
  })

  it('has nothing begun before it has answered', async () => {
    const steps = [
      STEP,
      { ...STEP, id: 'two', owns: ['two/**'] },
      { ...STEP, id: 'three', owns: ['three/**'], depends_on: ['one'] },
    ]
    const { retinue, cwd, before } = await scene({
      a1: [{ fail: { code: 'auth', message: 'no entry' } }],
      a2: [{ text: JSON.stringify(planOf({ steps: [{ ...STEP, id: 'four', owns: ['four/**'] }] })) }],
      a3: [write('four/c.txt'), DONE],
    })
    const plan = planOf({ on_failure: 'replan', max_concurrent: 1, steps })
    const { outcome, log } = await comeTo(retinue.executePlan(plan, YES))
    expect(dataOf(log, 'agent.subagent_created').map(({ contract }) => contract.agent.profile_id)).toEqual([
      'executor',
      'planner',
      'executor',
    ])
    expect(outcome.status).toBe('completed')
    expect(outcome.steps.map(({ id, status }) => [id, status])).toEqual([
      ['one', 'failed'],
      ['two', 'skipped'],
      ['three', 'skipped'],
      [expect.stringContaining('replan'), 'completed'],
      [expect.stringContaining('four'), 'completed'],
    ])
    expect(everything(cwd)).toEqual({ ...before, 'four/c.txt': 'x\n' })
  })

  it('a second time answers a second time', async () => {
    const rest = (id: string, checks: string[]) => ({
      text: JSON.stringify(planOf({ steps: [{ ...STEP, id, title: id, checks }] })),
    })
    const { retinue, cwd, before, model } = await scene({
      a1: [DONE],
      a2: [rest('second', ['false'])],
      a3: [DONE],
      a4: [rest('third', [])],
      a5: [write('mine/b.txt'), DONE],
    })
    const plan = planOf({ on_failure: 'replan', replans: 2, steps: [{ ...STEP, checks: ['false'] }] })
    const { outcome, log } = await comeTo(retinue.executePlan(plan, YES))
    expect(rolesIn(log)).toEqual(['executor', 'planner', 'executor', 'planner', 'executor'])
    expect(
      dataOf(log, 'plan.adopted').map(({ revision, steps }) => [revision, steps.map(({ title }) => title)]),
    ).toEqual([
      [1, ['Write']],
      [2, ['second']],
      [3, ['third']],
    ])
    expect(outcome.status).toBe('completed')
    expect(everything(cwd)).toEqual({ ...before, 'mine/b.txt': 'x\n' })
    model.assertAllUsed()
  })

  it('and fails again and again is not asked for ever', async () => {
    const { retinue, cwd, before } = await scene({
      ...turns,
      'a*': [
        {
          branches: [
            {
              when: { contains: 'Fail' },
              steps: [
                {
                  text: JSON.stringify(
                    planOf({
                      on_failure: 'replan',
                      replans: 5,
                      steps: [{ ...STEP, id: 'next', title: 'Fail', checks: ['false'] }],
                    }),
                  ),
                },
              ],
            },
            { steps: [DONE] },
          ],
        },
      ],
    })
    const { outcome, log, result } = await comeTo(retinue.executePlan(first, YES))
    expect(outcome.status).toBe('failed')
    expect(result.outcome).not.toBe('completed')
    // The rest of a plan may not give itself more revisions than the plan has.
    expect(dataOf(log, 'plan.adopted').length).toBeLessThanOrEqual(2)
    expect(rolesIn(log).length).toBeLessThanOrEqual(8)
    expect(everything(cwd)).toEqual(before)
  })
})
