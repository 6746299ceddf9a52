import { describe, expect, it } from 'vitest'
import {
  countStandings,
  filterFrom,
  filterTo,
  kindOf,
  matching,
  newestFirst,
  standingOfRun,
  withRuns,
} from '../../web/src/pages/runs/run-list'
import { lastedFor } from '../../web/src/parts/lasted'
import type { RunSummary } from '../../web/src/parts/library'

const ANY = { standing: null, kind: null, text: '' }

function run(run_id: string, more: Partial<RunSummary> = {}): RunSummary {
  return {
    ...{ run_id, session_id: 's1', task: 'Add a theme', said: null, workspace_root: '/project', text: null },
    ...{ status: 'closed', outcome: 'completed', created_at: 1_000, updated_at: 5_000, last_position: 10 },
    ...{ turns: 1, tool_calls: 2, input_tokens: 3, output_tokens: 4, cached_tokens: 0 },
    ...{ cost_usd: 0.1, unpriced_calls: 0, agents: 1, asks: 0, fan_out: false, plan: false },
    ...more,
  }
}

const RUNS = [
  run('r5', { status: 'running', outcome: null, task: 'Mend the parser' }),
  run('r4', { status: 'interrupted', outcome: null, plan: true }),
  run('r3', { outcome: 'budget_exceeded', fan_out: true }),
  run('r2', { outcome: 'gate_failed', session_id: 's2' }),
  run('r1'),
]

function ids(runs: readonly RunSummary[]): string[] {
  return runs.map(({ run_id }) => run_id)
}

describe('the list of runs', () => {
  it('tells a run by how it stands and by its kind', () => {
    expect(RUNS.map(standingOfRun)).toEqual(['running', 'interrupted', 'incomplete', 'failed', 'completed'])
    expect(standingOfRun(run('r6', { status: 'running', outcome: null, asks: 1 }))).toBe('asking')
    expect(RUNS.map(kindOf)).toEqual(['task', 'plan', 'fan-out', 'task', 'task'])
  })

  it('finds what has every word in its task, its id or that of its session', () => {
    expect(ids(matching(RUNS, ANY))).toEqual(['r5', 'r4', 'r3', 'r2', 'r1'])
    expect(ids(matching(RUNS, { ...ANY, text: ' PARSER  mend ' }))).toEqual(['r5'])
    expect(ids(matching(RUNS, { ...ANY, text: 'r2' }))).toEqual(['r2'])
    expect(ids(matching(RUNS, { ...ANY, text: 's2 theme' }))).toEqual(['r2'])
    expect(ids(matching(RUNS, { ...ANY, text: 'theme parser' }))).toEqual([])
    expect(ids(matching(RUNS, { ...ANY, standing: 'failed' }))).toEqual(['r2'])
    expect(ids(matching(RUNS, { ...ANY, kind: 'plan' }))).toEqual(['r4'])
    expect(ids(matching(RUNS, { standing: 'failed', kind: 'plan', text: '' }))).toEqual([])
  })

  it('counts how runs stand among those that the rest of the filter lets through', () => {
    const all = { all: 5, asking: 0, running: 1, interrupted: 1, completed: 1, incomplete: 1, failed: 1 }
    expect(countStandings(RUNS, { ...ANY, standing: 'failed' })).toEqual(all)
    const themes = { all: 4, asking: 0, running: 0, interrupted: 1, completed: 1, incomplete: 1, failed: 1 }
    expect(countStandings(RUNS, { ...ANY, text: 'theme' })).toEqual(themes)
  })

  it('keeps the later state of a run, whichever came first', () => {
    const early = run('r1', { status: 'running', outcome: null, last_position: 4 })
    const late = run('r1', { last_position: 9 })
    expect(withRuns(withRuns(new Map(), [early]), [late])).toEqual(new Map([['r1', late]]))
    expect(withRuns(withRuns(new Map(), [late]), [early])).toEqual(new Map([['r1', late]]))
    const left = run('r1', { status: 'interrupted', outcome: null, last_position: 4 })
    expect(withRuns(new Map([['r1', early]]), [left])).toEqual(new Map([['r1', left]]))
  })

  it('has the newest first, and an order for those of the same moment', () => {
    const runs = [run('a', { created_at: 1 }), run('c', { created_at: 2 }), run('b', { created_at: 2 })]
    expect(ids(newestFirst(withRuns(new Map(), runs)))).toEqual(['c', 'b', 'a'])
    expect(ids(newestFirst(withRuns(new Map(), runs.toReversed())))).toEqual(['c', 'b', 'a'])
  })

  it('counts the time of a run at work until now, of any other until its last event', () => {
    expect(lastedFor(run('r1', { status: 'running' }), 8_000)).toBe(7_000)
    expect(lastedFor(run('r1', { status: 'interrupted' }), 8_000)).toBe(4_000)
    expect(lastedFor(run('r1', { status: 'running' }), 500)).toBe(0)
  })

  it('keeps a filter in the address, and takes nothing from there that is none', () => {
    const filter = { standing: 'failed', kind: 'fan-out', text: 'a & b' } as const
    expect(filterFrom(filterTo(filter))).toEqual(filter)
    expect(filterTo(ANY).toString()).toBe('')
    expect(filterFrom(new URLSearchParams('status=lost&kind=all&x=1'))).toEqual(ANY)
  })
})
