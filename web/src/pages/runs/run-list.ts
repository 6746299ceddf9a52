import type { RunSummary } from '../../parts/library'

export type RunKind = 'task' | 'fan-out' | 'plan'

/** How runs stand, as far as one looks for that: what ended badly is told apart in its badge. */
export const STANDINGS = ['asking', 'running', 'interrupted', 'completed', 'incomplete', 'failed'] as const
export type RunStanding = (typeof STANDINGS)[number]

/** What is looked for. null: any. */
export type RunFilter = { standing: RunStanding | null; kind: RunKind | null; text: string }

export function kindOf({ plan, fan_out }: Pick<RunSummary, 'plan' | 'fan_out'>): RunKind {
  return plan ? 'plan' : fan_out ? 'fan-out' : 'task'
}

export function standingOfRun({ status, outcome, asks }: Pick<RunSummary, 'status' | 'outcome' | 'asks'>): RunStanding {
  if (status === 'running' && asks > 0) return 'asking'
  if (status !== 'closed') return status
  if (outcome === 'completed') return 'completed'
  return outcome === 'budget_exceeded' ? 'incomplete' : 'failed'
}

export type KnownRuns = ReadonlyMap<string, RunSummary>

/** What is known, with what came. Of what is known already the later state counts, by whatever way it came. */
export function withRuns(known: KnownRuns, came: readonly RunSummary[]): KnownRuns {
  const next = new Map(known)
  for (const run of came) {
    const before = next.get(run.run_id)
    if (!before || before.last_position <= run.last_position) next.set(run.run_id, run)
  }
  return next
}

/** Newest first; of those that began at the same moment, in a fixed order. */
export function newestFirst(known: KnownRuns): RunSummary[] {
  return [...known.values()].sort((a, b) => b.created_at - a.created_at || (a.run_id < b.run_id ? 1 : -1))
}

export function matching(runs: readonly RunSummary[], { standing, kind, text }: RunFilter): RunSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return runs.filter((run) => {
    if (standing !== null && standingOfRun(run) !== standing) return false
    if (kind !== null && kindOf(run) !== kind) return false
    const searched = `${run.run_id} ${run.session_id} ${run.task}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
}

/** How many there are of each, of those that the rest of the filter lets through. */
export function countStandings(runs: readonly RunSummary[], filter: RunFilter): Record<RunStanding | 'all', number> {
  const counts = { all: 0, asking: 0, running: 0, interrupted: 0, completed: 0, incomplete: 0, failed: 0 }
  for (const run of matching(runs, { ...filter, standing: null })) {
    counts.all++
    counts[standingOfRun(run)]++
  }
  return counts
}

/** A filter as it is kept in the address, so that going back shows the same. */
export function filterFrom(params: URLSearchParams): RunFilter {
  const standing = params.get('status')
  const kind = params.get('kind')
  return {
    standing: STANDINGS.find((one) => one === standing) ?? null,
    kind: kind === 'task' || kind === 'fan-out' || kind === 'plan' ? kind : null,
    text: params.get('q') ?? '',
  }
}

export function filterTo({ standing, kind, text }: RunFilter): URLSearchParams {
  const params = new URLSearchParams()
  if (standing !== null) params.set('status', standing)
  if (kind !== null) params.set('kind', kind)
  if (text !== '') params.set('q', text)
  return params
}
