import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { createRetinue } from '../src/index.js'
import { median } from './measure.js'

const CALLS = 3
const SLOW_MS = 300

export type WorkerTimes = {
  /** Of sub-agents whose model takes 300 ms a call, on one worker and on two. */
  one_ms: number
  two_ms: number
  speed_up: number
  /** Of sub-agents whose model answers at once, and of DBOS alone. */
  ours: { a_second: number; commit_ms: number }
  bare: { a_second: number; step_ms: number }
  /** Ours for each of theirs. */
  rate: number
  events: number
}

type Work = { children: number; at_once: number }
type Shape = { slow: Work; quick: Work; rounds: number }
type Round = {
  one_ms: number
  two_ms: number
  ours: Awaited<ReturnType<typeof fanOut>>
  bare: { wall_ms: number; step_ms: number }
}

/** Sub-agents on workers, on a server of this machine's own with everything on the disk before it is answered. */
export async function workerTimes(folder: string, { slow, quick, rounds }: Shape): Promise<WorkerTimes> {
  const cwd = join(folder, 'workers')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'file.txt'), 'a line of text\n'.repeat(20))
  for (const [name, delay_ms] of [
    ['slow', SLOW_MS],
    ['quick', 0],
  ] as const) {
    writeFileSync(join(cwd, `${name}.yaml`), scriptWith(delay_ms))
  }
  // Not bundled with the benchmark: it starts a program that lies beside it.
  const launcher = pathToFileURL(resolve('scripts/postgres-server.mjs')).href
  const { startPostgres }: typeof import('../scripts/postgres-server.mjs') = await import(launcher)
  const server = await startPostgres({ durable: true })
  try {
    const fan = (workers: number, model: string, work: Work) =>
      fanOut({ cwd, store: server.url, workers, model: `scripted/${model}.yaml`, ...work })
    // The first run of all makes the tables.
    await fan(1, 'quick', { ...quick, children: quick.at_once })
    const samples: Round[] = []
    for (let round = 0; round < rounds; round++) {
      const one_ms = (await fan(1, 'slow', slow)).wall_ms
      const two_ms = (await fan(2, 'slow', slow)).wall_ms
      const ours = await fan(1, 'quick', quick)
      const order = { url: server.url, children: quick.children, steps: ours.events, concurrency: quick.at_once }
      const bare = (await told(start('bench/worker-bare.ts', order))) as Round['bare']
      samples.push({ one_ms, two_ms, ours, bare })
    }
    const of = (pick: (round: Round) => number) => median(samples.map(pick))
    const rate = (pick: (round: Round) => number) => (quick.children / of(pick)) * 1000
    return {
      one_ms: of(({ one_ms }) => one_ms),
      two_ms: of(({ two_ms }) => two_ms),
      speed_up: of(({ one_ms, two_ms }) => one_ms / two_ms),
      events: samples[0]?.ours.events ?? 0,
      ours: { a_second: rate(({ ours }) => ours.wall_ms), commit_ms: of(({ ours }) => ours.commit_ms) },
      bare: { a_second: rate(({ bare }) => bare.wall_ms), step_ms: of(({ bare }) => bare.step_ms) },
      rate: of(({ ours, bare }) => bare.wall_ms / ours.wall_ms),
    }
  } finally {
    await server.remove()
  }
}

function scriptWith(delay_ms: number): string {
  const usage = { input_tokens: 900, output_tokens: 20 }
  const calls = Array.from({ length: CALLS }, () => ({ usage, delay_ms, calls: [{ read_file: { path: 'file.txt' } }] }))
  return JSON.stringify({ agents: { 'a*': [...calls, { usage, delay_ms, text: 'Done.' }] } })
}

type Fan = Work & { cwd: string; store: string; workers: number; model: string }

async function fanOut({ cwd, store, workers, model, children, at_once }: Fan) {
  const order = { cwd, store, concurrency: at_once, model }
  const processes = Array.from({ length: workers }, () => start('bench/worker-process.ts', order))
  for (const { begun } of processes) await begun
  const settings = { tools: ['read_file'], model: { name: model, source: 'user' as const } }
  const retinue = await createRetinue({ cwd, store, engine: 'dbos', settings })
  try {
    const began = performance.now()
    const run = retinue.fanOut(
      Array.from({ length: children }, () => ({ task: 'Read the file' })),
      { maxConcurrent: children },
    )
    const failed = (await run.results()).find(({ success }) => !success)
    const wall_ms = performance.now() - began
    if (failed) throw new Error(`${failed.outcome}: ${failed.error}`)
    const log = await retinue.events(run.run_id)
    const [first] = (await Promise.all(processes.map(told))) as { commit_ms: number }[]
    const events = log.filter(({ agent_id }) => agent_id === 'a1').length
    return { wall_ms, events, commit_ms: first?.commit_ms ?? Number.NaN }
  } finally {
    await retinue.close()
    for (const { process } of processes) process.kill('SIGKILL')
  }
}

type Started = { process: ChildProcess; begun: Promise<void>; last: Promise<string> }

function start(program: string, order: object): Started {
  const child = spawn(process.execPath, ['scripts/run.mjs', program, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let said = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'begun') begin()
    said = line
  })
  const last = new Promise<string>((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`${program} ended with ${code}`))))
  })
  // Whoever waits for its last words hears of it.
  last.catch(() => {})
  return { process: child, begun: Promise.race([begun, last.then(() => {})]), last }
}

/** What it says when it ends. */
async function told({ process, last }: Started): Promise<unknown> {
  process.stdin?.end()
  return JSON.parse(await last)
}
