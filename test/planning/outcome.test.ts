import { expect, it } from 'vitest'
import { type PlanOutcome, planOutcome, type StepOutcome } from '../../src/planning/index.js'
import { receiptOf, resultOf } from '../support/tree-events.js'
import { CALL, planLog, planOf, specOf } from './plan-log.js'

const WAITING: Omit<StepOutcome, 'id' | 'title'> = {
  ...{
    stage: 'work',
    agent: null,
    depends_on: [],
    owns: [],
    status: 'waiting',
    reason: null,
    incomplete: false,
    agent_id: null,
  },
  ...{ attempts: 0, failures: [], summary: '', files_changed: [], files_kept: [], gates: [] },
  ...{ tool_calls: 0, tokens: 0, cost_usd: 0, duration_ms: 0 },
}
const ONCE = { tool_calls: 3, tokens: 1000, cost_usd: 0.01, duration_ms: 1200 }

function step(id: string, more: Partial<StepOutcome> = {}): StepOutcome {
  return { id, title: `Title of ${id}`, ...WAITING, ...more }
}

function outcome(log: ReturnType<typeof planLog>): Omit<PlanOutcome, 'report'> {
  const { memory, state } = log.memory()
  const { report, ...rest } = planOutcome(memory, state)
  return rest
}

it('says of each step what the log says, from waiting to the end', () => {
  const steps = [
    specOf('1', { agent: 'executor', owns: ['src/**'] }),
    specOf('2', { retries: 1 }),
    specOf('3', { depends_on: ['2'] }),
    specOf('4'),
    specOf('5'),
  ]
  const plan = planOf(steps)
  const log = planLog()
  log.adopt(plan, steps)
  log.wait(1000)
  const one = log.begin('1')
  one.gate('npm test', true)
  one.gate('npm test', true, true)
  const merged = { commit: 'e'.repeat(40), kind: 'merge' } as const
  const receipt = receiptOf({ merged, files: [{ path: 'src/a.ts', kind: 'added' }], left_out: ['dist/a.js'] })
  one.close({ text: '# Report\n\nMended it.\n\nMore.', files_changed: ['src/a.ts', 'dist/a.js'], receipt })
  log.end('1', 'completed', one.id, null)
  log.begin('2').close({ outcome: 'timeout', reason: 'too slow' }, 'failed')
  const again = log.begin('2', 2)
  const kept = { branch: 'retinue/r/a3', path: 'p' }
  again.close({ outcome: 'gate_failed', text: 'I am done', receipt: receiptOf({ kept }) }, 'failed')
  log.end('2', 'failed', again.id, 'gate_failed: the check failed')
  log.end('3', 'skipped', null, 'step 2, which it depends on, failed')
  log.begin('4')
  log.wait(500)
  expect(outcome(log)).toEqual({
    ...{ run_id: 'r', call_id: CALL, status: 'running', reason: null, goal: 'Mend the roof', plan, revision: 1 },
    revisions: [{ revision: 1, by: 'planner', reason: null }],
    steps: [
      step('1', {
        ...{ agent: 'executor', status: 'completed', agent_id: 'a1', attempts: 1, summary: 'Mended it.', ...ONCE },
        ...{ owns: ['src/**'], files_changed: ['src/a.ts'], files_kept: ['dist/a.js'] },
        gates: [
          { what: 'npm test', passed: true, stage: 'before_merge' },
          { what: 'npm test', passed: true, stage: 'after_merge' },
        ],
      }),
      step('2', {
        ...{ status: 'failed', reason: 'gate_failed: the check failed', agent_id: 'a3', attempts: 2 },
        ...{ failures: ['timeout: too slow'], summary: 'I am done', files_kept: ['gutter.md'] },
        ...{ tool_calls: 6, tokens: 2000, cost_usd: 0.02, duration_ms: 2400 },
      }),
      step('3', { depends_on: ['2'], status: 'skipped', reason: 'step 2, which it depends on, failed' }),
      step('4', { status: 'running', agent_id: 'a4', attempts: 1 }),
      step('5'),
    ],
    ...{ checks: [], reviews: [], findings: [] },
    totals: { agents: 4, tool_calls: 9, tokens: 3000, cost_usd: 0.03, duration_ms: 1000 },
  })
})

it('knows that a step was cut short by its budget, what was not paid for, and what nobody can price', () => {
  const steps = [specOf('1'), specOf('2')]
  const log = planLog()
  log.adopt(planOf(steps), steps)
  log.complete('1', { outcome: 'budget_exceeded', cost_usd: null, sub_agents: 2 })
  log.note('plan.step_started', { step: '2', attempt: 1, index: 1 })
  log.add('root', 'agent.subagent_reused', {
    ...{ sub_agent_id: 'a2', step_idx: 1, call_id: CALL, index: 1, title: '2', cache_key: 'k' },
    ...{ from: { run_id: 'q', agent_id: 'a9' }, result: resultOf({ text: 'As before', files_changed: ['x'] }) },
  })
  log.end('2', 'completed', 'a2', null)
  log.note('plan.ended', { status: 'completed', reason: null })
  const { steps: ended, totals, status } = outcome(log)
  expect(ended).toEqual([
    step('1', { status: 'completed', incomplete: true, agent_id: 'a1', attempts: 1, ...ONCE, cost_usd: null }),
    step('2', { status: 'completed', agent_id: 'a2', attempts: 1, summary: 'As before' }),
  ])
  expect(status).toBe('completed')
  expect(totals).toEqual({ agents: 4, ...ONCE, cost_usd: null, duration_ms: 0 })
})

it('counts who resolved the merge conflict of a step to that step', () => {
  const steps = [specOf('1', { owns: ['**'] })]
  const log = planLog()
  log.adopt(planOf(steps), steps)
  const one = log.begin('1')
  const { contract } = log.memory().memory.children[0] ?? {}
  log.add('root', 'agent.subagent_created', {
    ...{ sub_agent_id: 'a2', step_idx: 1, call_id: 'repair:a1', index: 0, task: 'resolve', cache_key: null },
    ...{ contract: contract as NonNullable<typeof contract>, repairs: { sub_agent_id: 'a1', base: 'b' } },
  })
  const merged = { commit: 'e', kind: 'merge' } as const
  const result = (path: string) => resultOf({ files_changed: [path], receipt: receiptOf({ merged }) })
  log.add('root', 'agent.subagent_closed', {
    ...{ sub_agent_id: 'a2', step_idx: 1, final_status: 'completed', close_reason: 'done', result: result('b.ts') },
    used: { total_tokens: 0, cost_usd: 0, sub_agents: 0 },
  })
  one.close(result('a.ts'))
  log.end('1', 'completed', one.id, null)
  const { steps: ended, totals } = outcome(log)
  expect(ended[0]).toMatchObject({ agent_id: 'a1', files_changed: ['a.ts', 'b.ts'], tool_calls: 6 })
  expect(totals).toMatchObject({ agents: 2, tool_calls: 6 })
})

it('has the checks of the last round, each as it came out last, and what nobody has mended', () => {
  const steps = [specOf('1')]
  const leak = { title: 'It leaks', description: 'At the gutter', files: ['gutter.md'] }
  const crack = { title: 'A crack', description: 'In a slate', files: [] }
  const check = (round: number, number: number, passed: boolean) =>
    log.note('plan.checked', {
      ...{ round, check: number, kind: 'command', what: `check ${number}`, passed, detail: `${round}`, output: null },
      duration_ms: 1,
    })
  const log = planLog()
  log.adopt(planOf(steps), steps)
  log.complete('1')
  check(0, 0, false)
  check(0, 1, true)
  log.note('plan.steps_added', { steps: [specOf('review-1', { stage: 'review', agent: 'reviewer' })] })
  log.complete('review-1', { text: '{"summary":"Not yet"}' })
  log.note('plan.reviewed', { step: 'review-1', round: 0, summary: 'Not yet', findings: [leak, crack] })
  expect(outcome(log)).toMatchObject({
    checks: [
      { what: 'check 0', passed: false, detail: '0' },
      { what: 'check 1', passed: true, detail: '0' },
    ],
    reviews: [{ step: 'review-1', round: 0, summary: 'Not yet', findings: [leak, crack] }],
    findings: [leak, crack],
  })
  expect(outcome(log).steps.at(-1)?.summary).toBe('Not yet')
  const repair = { stage: 'repair', description: 'Mend it', mends: [0] } as {
    stage: 'repair'
    description: string
    mends: number[]
  }
  log.note('plan.steps_added', { steps: [specOf('repair-1.1', repair)] })
  log.complete('repair-1.1')
  check(1, 1, false)
  expect(outcome(log).checks).toEqual([{ what: 'check 1', passed: false, detail: '1' }])
  check(1, 1, true)
  check(1, 0, true)
  expect(outcome(log)).toMatchObject({
    checks: [
      { what: 'check 0', passed: true, detail: '1' },
      { what: 'check 1', passed: true, detail: '1' },
    ],
    findings: [crack],
  })
})

it('tells an answer of the planner that became the plan from one that had faults', () => {
  const log = planLog('A roof\n\n{"goal":"A roof"}')
  const planner = (id: string) => specOf(id, { stage: 'plan', agent: 'planner' })
  log.note('plan.steps_added', { steps: [planner('plan-1')] })
  log.complete('plan-1', { text: '{"version":' })
  expect(outcome(log)).toMatchObject({ goal: 'A roof', plan: null, steps: [{ summary: '' }] })
  log.note('plan.steps_added', { steps: [planner('plan-2')] })
  log.complete('plan-2', { text: '```json\n{}\n```' })
  const steps = [specOf('1')]
  log.adopt(planOf(steps), steps)
  expect(outcome(log).steps.map(({ summary }) => summary)).toEqual([
    'Its answer was no plan without faults.',
    'Its answer became the plan.',
    '',
  ])
})

it('keeps of a long report its beginning', () => {
  const log = planLog()
  const steps = [specOf('1')]
  log.adopt(planOf(steps), steps)
  log.complete('1', { text: '🪣'.repeat(5000) })
  const [{ summary = '' } = {}] = outcome(log).steps
  expect(summary).toBe(`${'🪣'.repeat(499)}…`)
})
