import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRetinue, type Retinue } from '../../src/index.js'
import { APART, type ChaosRun, chaosRun } from './chaos-script.js'
import { ChaosWorkers } from './chaos-workers.js'
import { ownPostgres, type TestServer } from './postgres.js'
import { makeProject } from './project.js'

const SETTINGS = {
  mode: 'dangerous' as const,
  workspace: { isolation: 'shared' as const },
  delegation: { profiles: { [APART]: { isolation: 'worktree' as const } } },
}

/** More would only wait for each other. */
const OPEN_RUNS = 24
const WORKERS = 3
const CONCURRENCY = 8
const KILL_EVERY_MS = 5000
const RESTART_EVERY_MS = 10_000
/** Of those that are killed, every so manieth is not replaced before the next is. */
const NEVER = 4

/** A run that was given, and what became of it. */
export type Given = { run: ChaosRun; run_id: string; took_ms: number; problems: string[] }

export type Storm = {
  cwd: string
  store: string
  ledger: string
  retinue: Retinue
  given: Given[]
  killed: number
  /** Workers that ended without having been killed. */
  ended_alone: number
  restarts: number
  took_ms: number
}

/** `onLate`: what is to be learned of a run that is not over after so long, before it is given up. */
type Patience = { late_ms: number; onLate: (storm: Storm, late: Given) => Promise<void> }

/**
 * Gives so many runs to three workers, of which one is killed every 5 s, while the database is restarted every 10 s.
 * Answers when all of them are over and no worker is left; the database is there.
 */
export async function storm(runs: number, options: Patience): Promise<Storm> {
  const server = await ownPostgres({ durable: true })
  const store = await server.database()
  const ledger = makeProject({ 'calls.jsonl': '', 'workers.log': '' })
  const cwd = makeProject({ '.gitignore': 'scripts/\nown/\n', 'a.txt': 'alpha\nbeta\n' }, { git: true })
  mkdirSync(join(cwd, 'scripts'))
  const workers = new ChaosWorkers({ cwd, store, settings: SETTINGS, concurrency: CONCURRENCY, ledger }, WORKERS)
  const retinue = await createRetinue({ cwd, store, engine: 'dbos', settings: SETTINGS, env: {} })
  const result: Storm = {
    cwd,
    store,
    ledger,
    retinue,
    given: [],
    killed: 0,
    ended_alone: 0,
    restarts: 0,
    took_ms: 0,
  }
  await workers.fill()
  const over = new AbortController()
  const chaos = [killing(workers, over.signal), restarting(server, result, over.signal)]
  const began = performance.now()
  const seeds = Array.from({ length: runs }, (_, i) => i)
  const face = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await give(seed, result, options)
  }
  try {
    await Promise.all(Array.from({ length: OPEN_RUNS }, face))
    result.took_ms = performance.now() - began
  } finally {
    over.abort()
    await Promise.all(chaos)
    await workers.stop()
  }
  result.killed = workers.killed
  result.ended_alone = workers.ended_alone
  return result
}

async function give(seed: number, storm: Storm, { late_ms, onLate }: Patience): Promise<void> {
  const { cwd, retinue } = storm
  const run = chaosRun(seed)
  writeFileSync(join(cwd, 'scripts', `${seed}.yaml`), JSON.stringify(run.script))
  const began = performance.now()
  const handle = retinue.run({ task: `Work ${seed}`, model: `scripted/scripts/${seed}.yaml` })
  const given: Given = { run, run_id: handle.run_id, took_ms: 0, problems: [] }
  storm.given.push(given)
  const over = new AbortController()
  const late = sleep(late_ms, null, { signal: over.signal }).then(async () => {
    given.problems.push(`was not over after ${late_ms / 1000} s`)
    await onLate(storm, given)
    handle.leave('it is late')
  })
  late.catch(() => {})
  await handle.result().catch((error: Error) => void given.problems.push(`the face failed: ${error.message}`))
  over.abort()
  await late.catch(() => {})
  given.took_ms = performance.now() - began
}

async function killing(workers: ChaosWorkers, over: AbortSignal): Promise<void> {
  while (await passed(KILL_EVERY_MS, over)) {
    await workers.killOne()
    if (workers.killed % NEVER !== 0) void workers.fill()
  }
}

async function restarting(server: TestServer, storm: Storm, over: AbortSignal): Promise<void> {
  while (await passed(RESTART_EVERY_MS, over)) {
    storm.restarts += 1
    await server.stop(storm.restarts % 2 === 0 ? 'immediate' : 'fast')
    await server.start()
  }
}

/** false: it is over. */
function passed(ms: number, over: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal: over }).catch(() => false)
}
