import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { editText } from '../../src/cli/plan/editor.js'
import { faultLines } from '../../src/cli/plan/faults.js'
import { outcomeLines, standing } from '../../src/cli/plan/outcome-lines.js'
import { previewLines } from '../../src/cli/plan/preview-lines.js'
import { paintFor } from '../../src/cli/style.js'
import type { PlanOutcome, PlanPreview } from '../../src/index.js'
import { makeProject } from '../support/project.js'

const paint = paintFor({}, {})

const estimate = (likely: number | null, most: number | null): PlanPreview['estimate'] => ({
  tool_calls: { most: 40, likely },
  tokens: { most: 200_000, likely: likely === null ? null : likely * 1000 },
  cost_usd: { most, likely: likely === null ? null : 0.25 },
  duration_ms: { most: 600_000, likely: null },
  basis: '',
})

const step = (
  id: string,
  wave: number,
  more: Partial<PlanPreview['steps'][number]> = {},
): PlanPreview['steps'][number] => ({
  ...{ id, title: `Do ${id}`, agent: 'executor', depends_on: [], owns: [], needs_approval: false, wave },
  ...{ waits: [], checks: [], estimate: estimate(null, 1) },
  ...more,
})

describe('the preview of a plan', () => {
  it('says who does what, what is side by side and why not more, what is written and checked, and what it may come to', () => {
    const preview: PlanPreview = {
      goal: 'Mend\nthe roof',
      assumptions: ['It does not rain'],
      completion_criteria: ['It is dry', 'It is warm'],
      checks: ['npm test'],
      steps: [
        step('1', 1, { owns: ['roof/**', 'gutter.md'], checks: ['node --test'], estimate: estimate(12, 1) }),
        step('2', 1, { agent: null, owns: null }),
        step('3', 3, { depends_on: ['1', '2'], needs_approval: true, label: 'gpu' }),
        step('4', 4, { waits: [{ step: '3', why: 'both may write roof/**' }], owns: ['roof/**'] }),
      ],
      parallel: { most: 2, limit: 4, why: ['3 comes after 1 and 2'] },
      estimate: { ...estimate(12, null), basis: 'of 3 earlier executors' },
    }
    const most = 'at most 40 calls, 200,000 tokens, $1.00, 10 min 0 s'
    expect(previewLines(preview, paint)).toEqual([
      'Plan: Mend ⏎ the roof',
      '4 steps, at most 2 side by side',
      '',
      'First, side by side:',
      '  1 executor: Do 1',
      '    writes roof/**, gutter.md',
      '    checked: node --test',
      `    likely 12 calls, 12,000 tokens, $0.25 · ${most}`,
      '  2 Do 2',
      '    may write anything',
      `    ${most}`,
      '',
      'Then:',
      '  3 executor: Do 3 (you are asked before it begins)',
      '    writes nothing · after 1 and 2',
      '    on a worker with the label gpu',
      `    ${most}`,
      '',
      'Then:',
      '  4 executor: Do 4',
      '    writes roof/**',
      '    waits for 3: both may write roof/**',
      `    ${most}`,
      '',
      'Not more at once: 3 comes after 1 and 2',
      'Taken for granted: It does not rain',
      'Done when:',
      '  - It is dry',
      '  - It is warm',
      'Checks of the whole: npm test',
      'Likely: 12 calls, 12,000 tokens, $0.25',
      'At most: 40 calls, 200,000 tokens, 10 min 0 s',
      'There is no limit on cost that is known: --max-budget-usd sets one',
      '(of 3 earlier executors)',
    ])
  })

  it('shows nothing that could move the cursor of a terminal', () => {
    const hostile = 'a\u001b[2Jb'
    const preview: PlanPreview = {
      ...{ goal: hostile, assumptions: [hostile], completion_criteria: [hostile], checks: [hostile] },
      steps: [
        step(hostile, 1, {
          ...{ title: hostile, agent: hostile, owns: [hostile], checks: [hostile], depends_on: [hostile] },
          waits: [{ step: hostile, why: hostile }],
        }),
      ],
      parallel: { most: 1, limit: 1, why: [hostile] },
      estimate: { ...estimate(null, 1), basis: hostile },
    }
    expect(previewLines(preview, paint).join('\n')).not.toContain('\u001b')
    const faults = faultLines(hostile, [{ path: hostile, message: hostile, line: 3 }])
    expect(faults).toEqual(['a�[2Jb:3: a�[2Jb: a�[2Jb'])
  })
})

describe('what became of a plan', () => {
  const done = (id: string, more: Partial<PlanOutcome['steps'][number]>): PlanOutcome['steps'][number] => ({
    ...{
      id,
      stage: 'work',
      title: `Do ${id}`,
      depends_on: [],
      owns: null,
      agent: 'executor',
      status: 'completed',
      reason: null,
      incomplete: false,
    },
    ...{
      agent_id: null,
      attempts: 0,
      failures: [],
      summary: '',
      files_changed: [],
      files_kept: [],
      gates: [],
      tool_calls: 0,
      tokens: 0,
    },
    ...{ cost_usd: 0, duration_ms: 0 },
    ...more,
  })
  const plan = {
    ...{ version: 1 as const, goal: 'Mend the roof', assumptions: [], completion_criteria: [], checks: [] },
    ...{ on_failure: 'stop' as const, replans: 1, repair_rounds: 2 },
    steps: ['1', '2', '3'].map((id) => ({
      ...{ id, title: `Do ${id}`, description: 'x', agent: null, owns: [], inputs: [], success_criteria: [] },
      ...{ depends_on: id === '3' ? ['1', '2'] : [], checks: [], budget: {}, needs_approval: false, retries: 0 },
    })),
  }
  const outcome: PlanOutcome = {
    ...{ run_id: 'r', call_id: 'c', status: 'running', reason: null, goal: plan.goal, plan, revision: 1, report: '' },
    ...{ revisions: [], reviews: [] },
    steps: [
      done('plan-1', { stage: 'plan', agent_id: 'a1', attempts: 1, tool_calls: 1, tokens: 2000, duration_ms: 900 }),
      done('1', { status: 'failed', agent_id: 'a3', attempts: 2, cost_usd: null, reason: 'the\ncheck failed' }),
      done('2', { status: 'running', agent_id: 'a4', attempts: 1, agent: null }),
      done('3', { status: 'waiting' }),
    ],
    checks: [{ what: 'npm test', passed: false, detail: '' }],
    findings: [{ title: 'It drips', description: '', files: [] }],
    totals: { agents: 3, tool_calls: 4, tokens: 5000, cost_usd: 0.5, duration_ms: 61_000 },
  }

  it('has a line for each step: state, who, attempts and cost; then the whole', () => {
    expect(outcomeLines(outcome, { status: 'running' }, paint)).toEqual([
      '✓ plan-1 executor: Do plan-1  completed               a1, 1 call, 2,000 tokens, $0.00, 900 ms',
      '✗ step 1 executor: Do 1       failed                  a3, 2 attempts, 0 calls, 0 tokens, cost unknown, 0 ms',
      '  the ⏎ check failed',
      '● step 2 Do 2                 running                 a4',
      '○ step 3 executor: Do 3       waiting, after 1 and 2',
      '✗ check of the whole: npm test',
      '! found and not mended: It drips',
      '1 of 4 steps completed, 1 failed · 3 sub-agents, 4 calls, 5,000 tokens, $0.50, 1 min 1 s',
    ])
    expect(outcomeLines(outcome, { status: 'interrupted' }, paint)[3]).toContain('interrupted')
  })

  it('is said in words', () => {
    const said = (more: Partial<PlanOutcome>, run: Parameters<typeof standing>[1]) =>
      standing({ ...outcome, ...more }, run)
    const closed = { status: 'closed', outcome: 'error' } as const
    const cancelled = { status: 'closed', outcome: 'cancelled' } as const
    expect(said({}, { status: 'running', outcome: null })).toBe('running')
    expect(said({}, { status: 'interrupted', outcome: null })).toBe('interrupted: retinue resume r')
    const paused = { by: 'ada', reason: 'lunch' }
    expect(said({}, { status: 'interrupted', outcome: null, paused })).toBe('paused: retinue resume r')
    expect(said({ status: 'left', revision: 0, reason: 'nobody was there' }, cancelled)).toBe(
      'not carried out: nobody was there',
    )
    expect(said({ status: 'left', reason: 'it was not approved' }, closed)).toBe(
      'not carried out to its end: it was not approved',
    )
    expect(said({ status: 'failed', reason: 'the run was stopped' }, cancelled)).toBe('cancelled: the run was stopped')
    expect(said({ status: 'failed', reason: 'step 1 failed' }, closed)).toBe('failed: step 1 failed')
    expect(said({ status: 'completed', reason: 'the checks pass' }, { ...closed, outcome: 'completed' })).toBe(
      'completed',
    )
  })
})

describe('the editor', () => {
  const editor = (cwd: string, script: string) => {
    const file = join(cwd, 'editor.sh')
    writeFileSync(file, `#!/bin/sh\n${script}\n`)
    chmodSync(file, 0o755)
    return file
  }

  it('is that of VISUAL, with its options, before that of EDITOR, and has the text in a file of its own', async () => {
    const cwd = makeProject({})
    const command = editor(cwd, 'echo "$1" >> "$2"')
    const edited = await editText('one\n', { env: { VISUAL: `${command} 'two three'`, EDITOR: 'false' } })
    expect(edited).toMatchObject({ ok: true, text: 'one\ntwo three\n' })
    if (!edited.ok) return
    expect(readFileSync(edited.file, 'utf8')).toBe('one\ntwo three\n')
    await edited.forget()
    expect(existsSync(edited.file)).toBe(false)
  })

  it('says how to set one where there is none, and keeps what was written by one that failed', async () => {
    expect(await editText('one', { env: { VISUAL: ' ' } })).toEqual({
      ok: false,
      message:
        'There is no editor: set VISUAL or EDITOR to the command of one that waits, such as EDITOR=nano or VISUAL="code --wait"',
    })
    expect(await editText('one', { env: { EDITOR: 'false' } })).toEqual({
      ok: false,
      message: 'The editor (false) ended with 1',
    })
    const command = editor(makeProject({}), 'echo two > "$1"; exit 3')
    const failed = await editText('one', { env: { EDITOR: command } })
    const [, file = ''] = /ended with 3; what it wrote is in (.*)$/.exec(failed.ok ? '' : failed.message) ?? []
    expect(readFileSync(file, 'utf8')).toBe('two\n')
  })

  it('is ended when what it is about is over', async () => {
    const stop = new AbortController()
    const command = editor(makeProject({}), 'exec sleep 60')
    const edited = editText('one', { env: { EDITOR: `A=1 ${command}` }, signal: stop.signal })
    setTimeout(() => stop.abort(), 50)
    expect(await edited).toMatchObject({ ok: false, message: expect.stringContaining('ended with SIGTERM') })
  })
})
