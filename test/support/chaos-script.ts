import { dirname } from 'node:path'
import { dice } from './random-tree.js'

/** What a sub-agent of a run does. */
type Kind = 'read' | 'search' | 'think' | 'write' | 'run' | 'fail' | 'check'

const KINDS: readonly Kind[] = ['read', 'search', 'think', 'write', 'write', 'run', 'fail', 'check']

/** A run of eight sub-agents, all of which follows from its number. */
export type ChaosRun = {
  seed: number
  script: object
  /** How each of its sub-agents ends, and the run itself. */
  ends: Record<string, 'completed' | 'error' | 'gate_failed'>
  outcome: 'completed' | 'error'
  /** What the paths begin with that it writes. */
  path: string
  /** What it has written when it has ended. */
  files: Record<string, string>
  /** What its commands leave in the ledger, each once; by the agent who runs it. */
  effects: Record<string, string>
}

/** Sub-agents with a worktree of their own; the others work in the folder itself. */
export const APART = 'apart'

/** So many runs write in the same folder: each command is preceded by a look at all folders that there are. */
const RUNS_A_FOLDER = 100

/** Whatever it writes is in `own`, or in `out` where that is in worktrees; git ignores the first. */
export function chaosRun(seed: number): ChaosRun {
  const draw = dice(`chaos ${seed}`)
  const kinds = shuffled(KINDS, draw)
  const run: ChaosRun = { seed, script: {}, path: '', ends: {}, outcome: 'completed', files: {}, effects: {} }
  // Trees cost more than all the rest of a run.
  const apart = seed % 6 === 0
  run.path = `${apart ? 'out' : 'own'}/${Math.floor(seed / RUNS_A_FOLDER)}/${seed}`
  const children = kinds.map((kind, i) => child(kind, `a${i + 1}`, run, draw, apart))
  const agents = Object.fromEntries(children.map(({ steps }, i) => [`a${i + 1}`, steps]))
  const fails = draw() < 0.1
  if (fails) run.outcome = 'error'
  const last = fails ? { fail: { code: 'auth', message: 'no entry' } } : { text: 'All done.' }
  const asked = children.map(({ request }) => request)
  run.script = { agents: { root: [...delegations(asked, run, draw), last], ...agents } }
  return run
}

type Child = { request: Record<string, unknown>; steps: object[] }

function child(kind: Kind, id: string, run: ChaosRun, draw: () => number, apart: boolean): Child {
  const delay_ms = Math.floor(draw() * 60)
  const place = apart ? { profile: APART } : {}
  const done = { delay_ms, text: `Done by ${id}.` }
  run.ends[id] = 'completed'
  switch (kind) {
    case 'read':
      return { request: { task: 'Read' }, steps: [{ delay_ms, calls: [{ read_file: { path: 'a.txt' } }] }, done] }
    case 'search':
      return { request: { task: 'Look' }, steps: [{ delay_ms, calls: [{ search_files: { pattern: 'alpha' } }] }, done] }
    case 'think':
      return { request: { task: 'Think' }, steps: [{ delay_ms: 5 * delay_ms, text: `Thought by ${id}.` }] }
    case 'write': {
      const path = `${run.path}-${id}.txt`
      const content = `${run.seed} ${id}\n`
      run.files[path] = content
      return {
        request: { task: 'Write', owns: [path], ...place },
        steps: [{ delay_ms, calls: [{ write_file: { path, content } }] }, done],
      }
    }
    case 'run': {
      const mark = `${run.seed}/${id}`
      run.effects[id] = mark
      const command = `mkdir -p ${dirname(run.path)}; echo ${mark} >> ${run.path}-effects; sleep 0.0${Math.floor(draw() * 10)}; echo went`
      // One that was cut short is said to be that, and is not made again.
      return {
        request: { task: 'Run', ...place },
        steps: [
          { delay_ms, calls: [{ run_command: { command } }] },
          { ...done, expect: { matches: 'went|nterrupted' } },
        ],
      }
    }
    case 'fail':
      run.ends[id] = 'error'
      return { request: { task: 'Fail' }, steps: [{ delay_ms, fail: { code: 'auth', message: 'no entry' } }] }
    case 'check': {
      const passes = draw() < 0.7
      if (!passes) run.ends[id] = 'gate_failed'
      return {
        request: { task: 'Be judged', checks: [passes ? 'grep -q alpha a.txt' : 'grep -q omega a.txt'] },
        steps: [done],
      }
    }
  }
}

/** The ways in which a root asks for its eight, and what it must then be told. */
function delegations(asked: object[], { ends }: ChaosRun, draw: () => number): object[] {
  const all = asked.map((request) => ({ spawn: request }))
  const told = (ids: string[]) => ({
    contains: ids.map((id) => `[${id}: ${ends[id] === 'completed' ? 'OK' : 'ERROR'}]`),
  })
  const ids = Object.keys(ends)
  const way = draw()
  if (way < 0.5) {
    return [
      { calls: all },
      { calls: [{ spawn_await: { job_ids: '*' } }] },
      { expect: told(ids), calls: [{ list_dir: {} }] },
    ]
  }
  if (way < 0.75) return [{ calls: asked.map((request) => ({ spawn_agent: request })) }]
  return [
    { calls: all.slice(0, 4) },
    { calls: asked.slice(4).map((request) => ({ spawn_agent: request })) },
    { calls: [{ spawn_await: { job_ids: '*' } }] },
    { expect: told(ids.slice(0, 4)), calls: [{ list_dir: {} }] },
  ]
}

function shuffled<T>(of: readonly T[], draw: () => number): T[] {
  return of
    .map((one) => ({ one, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
