import { describe, expect, it } from 'vitest'
import { eventLine } from '../../src/cli/event-lines.js'
import { line, paintFor } from '../../src/cli/style.js'
import { treeLines } from '../../src/cli/tree/lines.js'
import {
  emptyTree,
  growTree,
  type Plan,
  PlanProgress,
  type Stage,
  type StepSpec,
  type StoredEvent,
} from '../../src/domain/index.js'
import { eventsOfRun } from '../support/tree-events.js'

const paint = paintFor({}, {})
const CALL = 'c1'

const step = (stage: Stage, id: string, title: string, more: Partial<StepSpec> = {}): StepSpec => ({
  ...{ id, title, description: title, agent: null, depends_on: [], owns: [], inputs: [], success_criteria: [] },
  ...{ checks: [], budget: {}, needs_approval: false, retries: 0, stage },
  ...more,
})

const WORK = [
  step('work', '1', 'Mend the gutter', { agent: 'executor', owns: ['gutter/**'] }),
  step('work', '2', 'Paint the gutter', { depends_on: ['1'] }),
  step('work', '3', 'Sweep\nthe yard', { depends_on: ['1', '2'], needs_approval: true }),
]

const PLAN: Plan = {
  ...{ version: 1, goal: 'Mend the roof', assumptions: [], completion_criteria: [], checks: [], on_failure: 'stop' },
  ...{ replans: 1, repair_rounds: 2 },
  steps: WORK.map(({ stage: _, owns, ...rest }) => ({ ...rest, owns: owns ?? [] })),
}

/** A plan with research that is at work on its first step. */
function underWay() {
  const run = eventsOfRun()
  const begin = (id: string, index: number, sub_agent_id: string, title: string, profile: string) => {
    run.add('root', 'plan.step_started', { call_id: CALL, step: id, attempt: 1, index })
    const agent = run.create('root', sub_agent_id, { call_id: CALL, title, profile })
    Object.assign((run.events.at(-1) as StoredEvent).data, { index })
    agent.start()
    return agent
  }
  const end = (id: string, status: 'completed' | 'failed' | 'skipped', reason: string | null = null) =>
    run.add('root', 'plan.step_ended', { call_id: CALL, step: id, status, sub_agent_id: null, reason })
  run.root()
  run.call('root', CALL, 'execute_plan', 'a plan for: Mend the roof', { effect: 'delegate' })
  run.add('root', 'plan.steps_added', { call_id: CALL, steps: [step('research', 'research-1', 'What leaks?')] })
  begin('research-1', 0, 'a1', 'What leaks?', 'researcher').end()
  end('research-1', 'completed')
  run.add('root', 'plan.proposed', { call_id: CALL, plan: PLAN, by: 'planner', reason: null })
  run.add('root', 'plan.approval_asked', { call_id: CALL, step: null })
  const approve = () =>
    run.add('root', 'plan.approval_answered', {
      ...{ call_id: CALL, step: null, answer: 'approved', by: 'person', note: null },
    })
  const adopt = () => {
    approve()
    run.add('root', 'plan.adopted', {
      call_id: CALL,
      revision: 1,
      plan: PLAN,
      by: 'planner',
      reason: null,
      steps: WORK,
    })
    return begin('1', 1, 'a2', 'Mend the gutter', 'executor')
  }
  return { run, end, adopt }
}

function shown(events: readonly StoredEvent[], options: { elsewhere?: boolean; in_tree?: boolean } = {}): string[] {
  const progress = new PlanProgress(line)
  const { elsewhere = false, in_tree = false } = options
  return events.flatMap((event) => {
    progress.grow(event)
    const sub_agent = event.agent_id !== 'root'
    return eventLine(event, { paint, elsewhere, in_tree, sub_agent, progress })?.split('\n') ?? []
  })
}

function drawn(events: readonly StoredEvent[], rows = 30, interrupted = false): string[] {
  const progress = new PlanProgress(line)
  for (const event of events) progress.grow(event)
  const now = events.at(-1)?.at ?? 0
  const view = { columns: 100, rows, now, paint, speech: new Map(), progress, interrupted }
  return treeLines(events.reduce(growTree, emptyTree()), view).map((text) => text.replace(/ {2,}/g, '  ').trimEnd())
}

describe('the lines of a plan', () => {
  it('say which step each sub-agent does, how steps end, and how far the plan is', () => {
    const { run, end, adopt } = underWay()
    adopt().end()
    end('1', 'completed')
    run.add('root', 'plan.step_started', { call_id: CALL, step: '2', attempt: 2, index: 2 })
    end('2', 'failed', 'the paint is\nempty')
    end('3', 'skipped', 'step 2, which it depends on, failed')
    const check = { call_id: CALL, round: 0, check: 0, kind: 'command' as const, what: 'npm test' }
    run.add('root', 'plan.check_started', { ...check, commit: null })
    run.add('root', 'plan.checked', { ...check, passed: true, detail: '', output: null, duration_ms: 1200 })
    run.add('root', 'plan.checked', { ...check, passed: false, detail: 'not ok\nmore', output: null, duration_ms: 1 })
    const review = { call_id: CALL, step: 'research-1', round: 0, summary: '' }
    run.add('root', 'plan.reviewed', { ...review, findings: [] })
    const finding = { title: 'It drips', description: 'There.', files: [] }
    run.add('root', 'plan.reviewed', { ...review, round: 1, findings: [finding] })
    run.add('root', 'plan.ended', { call_id: CALL, status: 'failed', reason: 'step 2 failed' })
    expect(shown(run.events)).toEqual([
      '▸ 1 step: research-1 What leaks?',
      '↳ a1 research-1 researcher: What leaks? (p/m)',
      '✓ a1 completed · 3 calls · 1.2 s',
      '✓ research-1 completed · planning: 1 of 1 step completed',
      '▸ a plan by the planner with 3 steps',
      '↳ a2 step 1 executor: Mend the gutter (p/m)',
      '✓ a2 completed · 3 calls · 1.2 s',
      '✓ step 1 completed · 2 of 4 steps completed',
      '! step 2 is tried again, attempt 2',
      '✗ step 2 failed: the paint is · 2 of 4 steps completed, 1 failed',
      '– step 3 skipped: step 2, which it depends on, failed · 2 of 4 steps completed, 1 failed, 1 skipped',
      '  checks the whole: npm test',
      '✓ check of the whole passed: npm test · 1.2 s',
      '✗ check of the whole failed: npm test: not ok',
      '✓ the review found nothing',
      '! the review found 1 fault: It drips',
      '✗ the plan failed: step 2 failed',
    ])
    expect(shown(run.events, { in_tree: true })).not.toContain('  checks the whole: npm test')
  })

  it('say for whoever watches another process what is asked there', () => {
    const { run } = underWay()
    const lines = shown(run.events, { elsewhere: true })
    expect(lines.slice(-2)).toEqual([
      '▸ the planner proposes a plan with 3 steps',
      '? waits for a person: whether to carry the plan out',
    ])
    expect(shown(run.events).at(-1)).toBe('✓ research-1 completed · planning: 1 of 1 step completed')
  })

  it('say why a plan was changed, and who approved it where nobody was asked', () => {
    const { run, adopt } = underWay()
    adopt()
    const answer = { call_id: CALL, step: '3', answer: 'declined' as const }
    run.add('root', 'plan.approval_answered', { ...answer, by: 'caller', note: 'not\ntoday' })
    const steps = [step('work', '2.1', 'Call a painter')]
    const changed = { call_id: CALL, revision: 2, plan: PLAN, by: 'planner' as const, steps }
    run.add('root', 'plan.adopted', { ...changed, reason: 'step 2 failed' })
    expect(shown(run.events).slice(-2)).toEqual([
      '! step 3 declined by caller: not ⏎ today',
      '▸ revision 2 of the plan by the planner with 1 new step, because step 2 failed',
    ])
  })
})

describe('the tree of a plan', () => {
  it('has the step before the title, and steps that wait with what they wait for', () => {
    const { run, adopt } = underWay()
    adopt()
    run.call('a2', 'c2', 'edit_file', 'gutter/a.md')
    expect(drawn(run.events)).toEqual([
      '● root Mend the roof  waits for a2  1 call  0 s',
      '├ ✓ a1 research-1 researcher: What leaks?  0 s',
      '├ ● a2 step 1 executor: Mend the gutter  edit_file gutter/a.md  1 call  0 s',
      '├ ○ step 2 Paint the gutter  waits for 1',
      '└ ○ step 3 Sweep ⏎ the yard  waits for 1 and 2',
      '1 of 4 steps completed · 2 sub-agents: 1 at work, 1 done · 2 calls · 0 tokens · $0.00 · 0 s',
    ])
  })

  it('puts the steps that wait into one line where there is little room, and says nothing new of them once it stopped', () => {
    const { run, adopt } = underWay()
    adopt()
    expect(drawn(run.events, 9)).toContain('└ ○ 2 steps waiting (2, 3)')
    expect(drawn(run.events, 30, true).slice(2, 5)).toEqual([
      '├ ! a2 step 1 executor: Mend the gutter  interrupted  0 s',
      '├ ○ step 2 Paint the gutter',
      '└ ○ step 3 Sweep ⏎ the yard',
    ])
  })

  it('keeps the steps that are not done, and says of a plan that was left that it is not carried out', () => {
    const { run, end, adopt } = underWay()
    adopt().end()
    end('1', 'completed')
    end('2', 'skipped', 'declined: two\nare enough')
    expect(drawn(run.events).slice(3)).toEqual([
      '├ – step 2 Paint the gutter  skipped: declined: two ⏎ are enough',
      '└ ○ step 3 Sweep ⏎ the yard  waits for its turn',
      '2 of 4 steps completed, 1 skipped · 2 sub-agents: 2 done · 1 call · 0 tokens · $0.00 · 0 s',
    ])
    end('3', 'skipped', 'the plan ended')
    expect(drawn(run.events, 9)).toContain('└ – 2 steps skipped (2, 3)')

    const { run: other } = underWay()
    other.add('root', 'plan.ended', { call_id: CALL, status: 'left', reason: 'it was not approved' })
    expect(drawn(other.events)[0]).toBe('– root Mend the roof  not carried out  1 call  0 s')
  })

  it('says that a person is waited for, and which check of the whole runs', () => {
    const { run, end, adopt } = underWay()
    expect(drawn(run.events)[0]).toBe('? root Mend the roof  waits for approval of the plan  1 call  0 s')
    adopt().end()
    end('1', 'completed')
    run.add('root', 'plan.approval_asked', { call_id: CALL, step: '3' })
    expect(drawn(run.events)).toContain('└ ○ step 3 Sweep ⏎ the yard  waits for approval')
    const check = { call_id: CALL, round: 0, check: 0, kind: 'command' as const, what: 'npm test', commit: null }
    run.add('root', 'plan.check_started', check)
    expect(drawn(run.events)[0]).toContain('checks the whole: npm test')
  })
})
