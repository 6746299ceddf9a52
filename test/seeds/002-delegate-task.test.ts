import { describe, expect, it } from 'vitest'
import type { RetinueError, StoredEvent } from '../../src/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { tree } from '../support/project.js'
import { DONE, PAID, withoutSeconds } from './asking.js'
import { family, gate, requestsOf, retinueIn, toldTo } from './family.js'

type Subtask = { task: string; scope?: string; depends_on?: number }

const delegate = (plan: string, subtasks: Subtask[]) => ({ calls: [{ delegate_task: { plan, subtasks } as never }] })

/** What the log of the parent says about the steps of its plans. */
const stepsIn = (events: readonly StoredEvent[]) =>
  events.flatMap((event) =>
    event.agent_id === 'root' && event.type === 'plan.step_ended' ? [[event.data.step, event.data.status]] : [],
  )

describe('seed 002, C2: delegate_task and its plan', () => {
  it('C2: five subtasks are let, write what they are for, and come back as one report in their order', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { retinue, cwd, model } = await family(
      {
        root: [
          delegate(
            'Five letters',
            names.map((name) => ({ task: `Write ${name}` })),
          ),
          DONE,
        ],
        ...Object.fromEntries(
          names.map((name, i) => [
            `a${i + 1}`,
            [
              {
                expect: `Write ${name}`,
                calls: [{ write_file: { path: `${name}.txt`, content: `${name}\n` } }],
                ...PAID,
              },
              { text: `${name} is written.`, ...PAID },
            ],
          ]),
        ),
      },
      { settings: { mode: 'auto' } },
    )
    const { result, events } = await runToEnd(retinue)
    const [told] = await toldTo(retinue, result.run_id)
    expect(withoutSeconds(told?.content ?? '')).toBe(
      [
        '[COMPLETED] 5 of 5 subtasks completed\nPlan: Five letters',
        ...names.map(
          (name, i) =>
            `[COMPLETED] subtask ${i}, a${i + 1}: Write ${name}\n${name} is written.\n1 tool call, 240 tokens, $0.020, 0.0s\nFiles changed: ${name}.txt`,
        ),
      ].join('\n\n'),
    )
    expect(tree(cwd)).toEqual(Object.fromEntries(names.map((name) => [`${name}.txt`, `${name}\n`])))
    expect(stepsIn(events)).toEqual(names.map((_, i) => [String(i), 'completed']))
    expect(dataOf(events, 'agent.worktree_merged').map(({ sub_agent_id }) => sub_agent_id)).toEqual(
      names.map((_, i) => `a${i + 1}`),
    )
    model.assertAllUsed()
  })

  it('C2: after an error what is at work is waited for, and what has not begun never does', async () => {
    const failed = gate()
    const { retinue, model } = await family(
      {
        root: [delegate('Three of them', [{ task: 'Fail' }, { task: 'Take long' }, { task: 'Too late' }]), DONE],
        a1: [{ fail: { code: 'auth', message: 'no key' } }],
        a2: [{ text: 'It took long.', ...PAID }],
      },
      { settings: { max_concurrent: 2 }, hold: ({ agent_id }) => (agent_id === 'a2' ? failed.opened : undefined) },
    )
    const run = retinue.run({ task: 'Work' })
    const events: StoredEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === 'plan.step_ended' && event.data.status === 'failed') failed.open()
    }
    const [told] = await toldTo(retinue, run.run_id)
    expect(told?.is_error).toBe(true)
    expect(withoutSeconds(told?.content ?? '')).toBe(
      [
        '[ERROR] 1 of 3 subtasks completed\nPlan: Three of them',
        '[ERROR] subtask 0, a1: Fail\nerror: no key\n(it said nothing)\n0 tool calls, 0 tokens, $0.00, 0.0s',
        '[COMPLETED] subtask 1, a2: Take long\nIt took long.\n0 tool calls, 120 tokens, $0.010, 0.0s',
        '[SKIPPED] subtask 2: Too late\nnot started: subtask 0 failed',
      ].join('\n\n'),
    )
    expect(stepsIn(events).sort()).toEqual([
      ['0', 'failed'],
      ['1', 'completed'],
      ['2', 'skipped'],
    ])
    model.assertAllUsed()
  })

  it('C2: a result that is given on and is not complete says so', async () => {
    const look = { calls: [{ list_dir: {} }] }
    const { retinue, model } = await family(
      {
        root: [delegate('Look', [{ task: 'Look around' }, { task: 'Sum up', depends_on: 0 }]), DONE],
        a1: { steps: [look, look], report: [{ text: 'Half of it.' }] },
        a2: [{ expect: { contains: ['Sum up', 'Half of it.'] }, text: 'Half, in short.' }],
      },
      { settings: { delegation: { budget: { tool_calls: 1 } } } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_created').map(({ contract }) => contract.step.inputs)).toEqual([
      undefined,
      [{ from: 'a1', outcome: 'budget_exceeded' }],
    ])
    const [request] = await requestsOf(retinue, result.run_id, 'a2')
    expect(JSON.stringify(request?.messages)).toMatch(/incomplete/i)
    expect((await toldTo(retinue, result.run_id))[0]?.content).toMatch(
      /^\[INCOMPLETE\] 1 of 2 subtasks completed\n[\s\S]*\[INCOMPLETE\] subtask 0[\s\S]*\[COMPLETED\] subtask 1/,
    )
    model.assertAllUsed()
  })

  it('C2: one that was let go of goes on in another process, and what was done is not done again', async () => {
    const never = gate()
    const subtasks = [{ task: 'One' }, { task: 'Two', depends_on: 0 }, { task: 'Three', depends_on: 1 }]
    const { retinue, cwd, model } = await family(
      {
        root: [delegate('Three', subtasks), DONE],
        a1: [{ text: 'First.' }],
        a2: [{ expect: 'First.', text: 'Second.' }],
        a3: [{ expect: 'Second.', text: 'Third.' }],
      },
      { hold: ({ agent_id }) => (agent_id === 'a2' ? never.opened : undefined) },
    )
    const run = retinue.run({ task: 'Work' })
    const left = run.result().catch((error: RetinueError) => error.code)
    for await (const { type, agent_id } of run) if (type === 'model.requested' && agent_id === 'a2') break
    await retinue.close()
    expect(await left).toBe('abandoned')

    const later = await retinueIn(cwd, model)
    expect(await later.resume(run.run_id).result()).toMatchObject({ outcome: 'completed' })
    expect(model.requests.map(({ caller }) => caller.agent_id)).toEqual(['root', 'a1', 'a2', 'a3', 'root'])
    const events = await later.events(run.run_id)
    expect(stepsIn(events)).toEqual(['0', '1', '2'].map((step) => [step, 'completed']))
    expect((await toldTo(later, run.run_id))[0]?.content).toMatch(/^\[COMPLETED\] 3 of 3 subtasks completed/)
  })

  it('C2: a model may hand out one plan after the other, and one of them side by side with another', async () => {
    const one = delegate('First', [{ task: 'One' }, { task: 'Two' }])
    const two = delegate('Second', [{ task: 'Three' }])
    const { retinue, model } = await family({
      root: [{ calls: [...one.calls, ...two.calls] }, delegate('Last', [{ task: 'Four' }]), DONE],
      'a*': [{ text: 'Yes.' }],
    })
    const { result, events } = await runToEnd(retinue)
    const told = await toldTo(retinue, result.run_id)
    expect(told.map(({ content }) => content.split('\n').slice(0, 2))).toEqual([
      ['[COMPLETED] 2 of 2 subtasks completed', 'Plan: First'],
      ['[COMPLETED] 1 of 1 subtask completed', 'Plan: Second'],
      ['[COMPLETED] 1 of 1 subtask completed', 'Plan: Last'],
    ])
    expect(new Set(dataOf(events, 'plan.ended').map(({ status }) => status))).toEqual(new Set(['completed']))
    expect(dataOf(events, 'agent.subagent_created')).toHaveLength(4)
    model.assertAllUsed()
  })
})
