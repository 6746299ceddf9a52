import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { family, gate, retinueIn } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { planOf, STEP } from '../support/plan-attacks.js'
import { tree } from '../support/project.js'

const DONE = { text: 'Done.' }
const AUTO = { mode: 'auto' } as const
const YES = { approve: 'yes' } as const

const write = (path: string) => [{ calls: [{ write_file: { path, content: 'x\n' } }] }, DONE]
const step = (id: string, more: object = {}) => ({
  ...STEP,
  ...{ id, title: id, description: `Write ${id}`, owns: [`${id}/**`] },
  ...more,
})
const written = (path: string) => [{ exist: [path] }]

const endsIn = (log: readonly StoredEvent[]) =>
  log.flatMap(({ type, data }) => (type === 'plan.step_ended' ? [`${data.step} ${data.status}`] : []))

/** How many were at work at once, by what the log says. */
function mostAtWork(log: readonly StoredEvent[]): number {
  const at_work = new Set<string>()
  let most = 0
  for (const { type, agent_id, data } of log) {
    if (type === 'agent.subagent_created') at_work.add(data.sub_agent_id)
    if (type === 'agent.subagent_waiting_for_merge' || type === 'agent.subagent_failed') at_work.delete(agent_id)
    if (type === 'agent.subagent_closed') at_work.delete(data.sub_agent_id)
    most = Math.max(most, at_work.size)
  }
  return most
}

describe('a step that may be tried again', () => {
  it('is, with what went wrong, until its check passes', async () => {
    const { retinue, cwd, model } = await family(
      {
        a1: [{ expect: { excludes: ['tried this before you'] }, ...DONE }],
        a2: [
          {
            expect: { contains: ['tried this before you', 'one/b.txt', 'Nothing of its work is there.'] },
            calls: [{ write_file: { path: 'one/b.txt', content: 'x\n' } }],
          },
          DONE,
        ],
      },
      { settings: AUTO },
    )
    const plan = planOf({ steps: [step('one', { checks: written('one/b.txt'), retries: 2 })] })
    const run = retinue.executePlan(plan, YES)
    const { status, steps } = await run.outcome()
    expect([status, steps.map(({ id, status, attempts, agent_id }) => [id, status, attempts, agent_id])]).toEqual([
      'completed',
      [['one', 'completed', 2, 'a2']],
    ])
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'x\n' })
    model.assertAllUsed()
  })

  it('is not more often than it says, and others are not held up more than the limit lets', async () => {
    const { retinue, cwd } = await family(
      { 'a*': [{ branches: [{ when: { contains: 'Write two' }, steps: write('two/b.txt') }, { steps: [DONE] }] }] },
      { settings: AUTO },
    )
    const steps = [step('one', { checks: written('one/b.txt'), retries: 2 }), step('two')]
    const run = retinue.executePlan(planOf({ on_failure: 'continue', max_concurrent: 1, steps }), YES)
    const outcome = await run.outcome()
    expect(outcome.status).toBe('failed')
    const log = await retinue.events(run.run_id)
    expect(
      dataOf(log, 'plan.step_started')
        .filter(({ step }) => step === 'one')
        .map(({ attempt }) => attempt),
    ).toEqual([1, 2, 3])
    expect(endsIn(log).sort()).toEqual(['one failed', 'two completed'])
    expect(mostAtWork(log)).toBe(1)
    expect(tree(cwd)).toEqual({})
  })

  it('is not when somebody cancelled it', async () => {
    const begun = gate()
    const never = gate()
    const { retinue } = await family(
      { 'a*': [DONE] },
      {
        settings: AUTO,
        hold: () => {
          begun.open()
          return never.opened
        },
      },
    )
    const run = retinue.executePlan(planOf({ steps: [step('one', { retries: 2 })] }), YES)
    await begun.opened
    expect((await retinue.cancelAgent(run.run_id, 'a1', 'ada', 'enough')).outcome).toBe('cancelled')
    expect((await run.outcome()).status).toBe('failed')
    const log = await retinue.events(run.run_id)
    expect(dataOf(log, 'plan.step_started').map(({ attempt }) => attempt)).toEqual([1])
    expect(endsIn(log)).toEqual(['one failed'])
  })
})

describe('a repair that failed', () => {
  it('keeps nobody from the next, also in a process that goes on with the run', async () => {
    const finding = (title: string) => ({ title, description: `Fix ${title}`, files: ['one/b.txt'] })
    const verdict = (titles: string[]) => ({
      text: JSON.stringify({ summary: 'So it is.', findings: titles.map(finding) }),
    })
    const again = [{ calls: [{ write_file: { path: 'one/b.txt', content: 'mended\n' } }] }, DONE]
    const second = gate()
    const never = gate()
    const { retinue, cwd, model } = await family(
      {
        a1: write('one/b.txt'),
        a2: [verdict(['A', 'B', 'C'])],
        a3: [{ fail: { code: 'auth', message: 'no key' } }],
        a4: again,
        a5: again,
        a6: [verdict([])],
      },
      {
        settings: AUTO,
        hold: ({ agent_id }) => {
          if (agent_id !== 'a4') return undefined
          second.open()
          return never.opened
        },
      },
    )
    const plan = planOf({ completion_criteria: ['It is right'], repair_rounds: 1, steps: [step('one')] })
    const run = retinue.executePlan(plan, YES)
    const left = run.result().catch((error: unknown) => error)
    await second.opened
    run.leave('the process ends')
    expect(await left).toBeInstanceOf(Error)
    await retinue.close()
    const other = await retinueIn(cwd, model, { settings: AUTO })
    expect(await other.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
    expect(endsIn(await other.events(run.run_id))).toEqual([
      'one completed',
      'review-1 completed',
      'repair-1.1 failed',
      'repair-1.2 completed',
      'repair-1.3 completed',
      'review-2 completed',
    ])
    expect(tree(cwd)).toEqual({ 'one/b.txt': 'mended\n' })
    model.assertAllUsed()
  })
})
