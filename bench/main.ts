import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bareAppends, ourAppends } from './appends.js'
import { makespan, type TreeCase, type TreeSample, tree } from './delegation.js'
import { bare, type LoopCase, ours } from './loop.js'
import { median, type Sample } from './measure.js'
import { bytesPerIdleAgent } from './memory.js'
import { type Makespans, planMakespans, type Ratios, scheduleTimes } from './planning.js'
import { sandboxTimes } from './sandbox.js'
import { timeToEnd, timeToFirstRequest } from './start.js'
import { type PostgresAppends, postgresAppends } from './store-postgres.js'
import { windowTimes } from './window.js'
import { workerTimes } from './workers.js'
import { workspaceTimes } from './workspaces.js'
import { AT_ONCE } from './workspaces-work.js'

/** Everything is measured in one run, and compared only within it: the machine is shared and noisy. */
const folder = mkdtempSync(join(tmpdir(), 'retinue-bench-'))
const rows: string[][] = []
const row = (...cells: string[]) => {
  rows.push(cells)
  process.stderr.write(`${cells.join('  ')}\n`)
}

/** The first rounds are for the compiler: a runtime runs longer than a benchmark. */
const WARM_UP = 2
const ROUNDS = 7

const CASES: LoopCase[] = [
  { agents: 40, calls: 20, at_once: 1 },
  { agents: 80, calls: 20, at_once: 8 },
  { agents: 300, calls: 3, at_once: 8 },
]

async function loops(): Promise<void> {
  const cwd = join(folder, 'work')
  for (let i = 0; i < 4; i++) writeFileSync(join(cwd, `file-${i}.txt`), 'a line of text\n'.repeat(20))
  for (const shape of CASES) {
    const server = spawn(process.execPath, ['scripts/run.mjs', 'bench/server.ts', String(shape.calls)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const url = await new Promise<string>((found) => server.stdout.once('data', (d: Buffer) => found(String(d).trim())))
    const samples: { bare: Sample; ours: Sample }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const store = join(folder, `${shape.agents}-${shape.at_once}-${round}.db`)
      samples.push({ bare: await bare(url, cwd, shape), ours: await ours(url, cwd, store, shape) })
    }
    server.stdin.end()
    samples.splice(0, WARM_UP)
    const turns = shape.agents * (shape.calls + 1)
    const per = (pick: (s: (typeof samples)[0]) => number) => median(samples.map(pick)) / turns
    const ratio = median(samples.map((s) => s.ours.cpu_ms / s.bare.cpu_ms))
    row(
      `${shape.agents} agents × ${shape.calls} tool calls, ${shape.at_once} at once`,
      `${per((s) => s.bare.cpu_ms).toFixed(2)} / ${per((s) => s.ours.cpu_ms).toFixed(2)} ms CPU a turn`,
      `${ratio.toFixed(2)} × bare`,
      '≤ 1.3 ×',
    )
  }
}

/** Sub-agents of one program, each with three tool calls. Small trees are repeated until there is something to measure. */
const TREES: TreeCase[] = [
  { children: 1, repeat: 100, at_once: 50 },
  { children: 10, repeat: 20, at_once: 50 },
  { children: 100, repeat: 3, at_once: 50 },
  { children: 1000, repeat: 1, at_once: 50 },
]
const TREE_CALLS = 3
const TREE_ROUNDS = 5

async function trees(): Promise<void> {
  const cwd = join(folder, 'work')
  const server = spawn(process.execPath, ['scripts/run.mjs', 'bench/server.ts', String(TREE_CALLS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((found) => server.stdout.once('data', (d: Buffer) => found(String(d).trim())))
  for (const shape of TREES) {
    const { children, repeat } = shape
    const samples: { bare: Sample; ours: TreeSample }[] = []
    for (let round = 0; round < TREE_ROUNDS; round++) {
      const at_once = Math.min(shape.at_once, children)
      const store = join(folder, `tree-${children}-${round}.db`)
      const plain = await bare(url, cwd, { agents: children * repeat, calls: TREE_CALLS, at_once })
      samples.push({ bare: plain, ours: await tree(url, cwd, store, shape) })
    }
    samples.splice(0, 1)
    const per = (pick: (s: (typeof samples)[0]) => number) => median(samples.map(pick)) / (children * repeat)
    const ratio = median(samples.map((s) => s.ours.cpu_ms / s.bare.cpu_ms))
    const peak = median(samples.map((s) => s.ours.peak_bytes)) / 1024 / 1024
    row(
      `${children} sub-agents × ${TREE_CALLS} tool calls, ${Math.min(shape.at_once, children)} at once`,
      `${per((s) => s.bare.cpu_ms).toFixed(2)} / ${per((s) => s.ours.cpu_ms).toFixed(2)} ms CPU, ${per((s) => s.bare.wall_ms).toFixed(2)} / ${per((s) => s.ours.wall_ms).toFixed(2)} ms wall a sub-agent; peak heap ${peak.toFixed(0)} MiB; first prompt ${samples[0]?.ours.prompt_tokens} tokens`,
      `${ratio.toFixed(2)} × bare`,
      children >= 100 ? '≤ 1.3 ×' : '',
    )
  }
  server.stdin.end()
  const spans: { took_ms: number; ideal_ms: number }[] = []
  for (let round = 0; round < 3; round++) {
    const store = join(folder, `span-${round}.db`)
    spans.push(await makespan(cwd, store, { children: 200, at_once: 50, calls: 3, delay_ms: 300 }))
  }
  const took = median(spans.map(({ took_ms }) => took_ms))
  const ideal = spans[0]?.ideal_ms ?? 0
  row(
    '200 sub-agents × 3 tool calls, 50 at once, 300 ms a model call',
    `${took.toFixed(0)} ms, at best ${ideal} ms`,
    `${(took / ideal).toFixed(2)} × ideal`,
    '≤ 1.1 ×',
  )
}

async function watching(): Promise<void> {
  const shape = { children: 200, at_once: 50, rounds: 3 }
  const times = await windowTimes(join(folder, 'work'), join(folder, 'window.db'), shape)
  const { events, alone, watched, ratio, peak_bytes } = times
  const seconds = (ms: number) => (ms / 1000).toFixed(2)
  row(
    `${shape.children} sub-agents × 3 tool calls, ${shape.at_once} at once, watched by two browsers and a terminal`,
    `${events} events, each seen once and in order by all three; ${seconds(alone.wall_ms)} / ${seconds(watched.wall_ms)} s, ${seconds(alone.cpu_ms)} / ${seconds(watched.cpu_ms)} s CPU of the process that works and serves; peak ${(peak_bytes / 1024 / 1024).toFixed(0)} MiB resident`,
    `${ratio.toFixed(2)} × unwatched`,
    '',
  )
}

function plans(): void {
  const said = ({ median, nine_in_ten, worst }: Ratios) =>
    `median ${median.toFixed(2)}, nine in ten ≤ ${nine_in_ten.toFixed(2)}, worst ${worst.toFixed(2)}`
  const times = (what: string, { unknown, told, any_order }: Makespans, best: string) => {
    row(what, said(unknown), `${unknown.median.toFixed(2)} × ${best}`, '≤ 1.1 ×')
    row('the same, told how long steps take', said(told), `${told.median.toFixed(2)} × ${best}`, '')
    row(
      'the same, not told, against plans whose work is integrated in any order',
      said(any_order),
      `${any_order.median.toFixed(2)} × ${best}`,
      '',
    )
  }
  const small = planMakespans({ steps: [4, 8], limit: [2, 3], folders: 6 }, 2000, true)
  times('simulated time of 2,000 random plans of 4 to 8 steps, 2 or 3 at once', small, 'optimum')
  const large = planMakespans({ steps: [20, 100], limit: [2, 8], folders: 100 }, 200, false)
  times('simulated time of 200 random plans of 20 to 100 steps, 2 to 8 at once', large, 'lower bound')
  const { first_ms, again_ms } = scheduleTimes(1000)
  row('scheduling 1,000 steps', `${first_ms.toFixed(0)} ms CPU the first time, then ${again_ms.toFixed(0)} ms`, '', '')
}

async function appends(): Promise<void> {
  const count = 2000
  const rounds = [1, 2, 3].map((n) => join(folder, `appends-${n}`))
  const results: { bare: Sample; one: Sample; hundred: Sample }[] = []
  for (const round of rounds) {
    mkdirSync(round)
    results.push({
      bare: await bareAppends(round, count),
      one: await ourAppends(round, 1, count),
      hundred: await ourAppends(round, 100, count),
    })
  }
  const rate = (pick: (r: (typeof results)[0]) => Sample) =>
    (count / median(results.map((r) => pick(r).wall_ms))) * 1000
  const [bareRate, one, hundred] = [rate((r) => r.bare), rate((r) => r.one), rate((r) => r.hundred)]
  row('durable appends of 2 events, bare libsql', `${bareRate.toFixed(0)} a second`, '', '')
  row(
    'the same through the store, one agent',
    `${one.toFixed(0)} a second`,
    `${(one / bareRate).toFixed(2)} × bare`,
    '≥ 0.5 ×',
  )
  row(
    'the same, 100 agents at once',
    `${hundred.toFixed(0)} a second`,
    `${(hundred / bareRate).toFixed(2)} × bare`,
    '≥ 0.5 ×',
  )
}

async function postgres(): Promise<void> {
  const count = 1000
  const results: PostgresAppends[] = []
  for (let round = 0; round < 3; round++) results.push(await postgresAppends(count))
  const of = (pick: (r: PostgresAppends) => number) => median(results.map(pick))
  const rate = (pick: (r: PostgresAppends) => Sample) => (count / of((r) => pick(r).wall_ms)) * 1000
  const [bareRate, one, hundred] = [rate((r) => r.bare), rate((r) => r.one), rate((r) => r.hundred)]
  const ms = (value: number) => `${value.toFixed(2)} ms each`
  row(
    'the same on PostgreSQL, bare pg in one round trip',
    `${bareRate.toFixed(0)} a second, ${ms(of((r) => r.bare_ms))}`,
    '',
    '',
  )
  row(
    'the same on PostgreSQL through the store, one agent',
    `${one.toFixed(0)} a second, ${ms(of((r) => r.one_ms))}`,
    `${(one / bareRate).toFixed(2)} × bare`,
    '',
  )
  row(
    'the same on PostgreSQL, 100 agents at once',
    `${hundred.toFixed(0)} a second`,
    `${(hundred / bareRate).toFixed(2)} × bare`,
    '≥ 0.5 ×',
  )
}

async function workers(): Promise<void> {
  const shape = { slow: { children: 72, at_once: 4 }, quick: { children: 100, at_once: 8 }, rounds: 3 }
  const { one_ms, two_ms, speed_up, ours, bare, rate, events } = await workerTimes(folder, shape)
  const { slow, quick } = shape
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  row(
    `${slow.children} sub-agents × 3 tool calls, 300 ms a model call, ${slow.at_once} at once on each worker`,
    `${seconds(one_ms)} s on one worker, ${seconds(two_ms)} s on two`,
    `${speed_up.toFixed(2)} × as fast`,
    '≥ 1.8 ×',
  )
  row(
    `${quick.children} sub-agents of ${events} events on one worker, ${quick.at_once} at once, and DBOS alone with as many steps`,
    `${ours.a_second.toFixed(1)} / ${bare.a_second.toFixed(1)} a second; ${ours.commit_ms.toFixed(1)} ms a commit / ${bare.step_ms.toFixed(1)} ms a step`,
    `${rate.toFixed(2)} × DBOS`,
    '≥ 0.5 ×',
  )
}

async function starts(): Promise<void> {
  const bin = resolve('bin/retinue.js')
  const cwd = join(folder, 'start')
  mkdirSync(cwd)
  const many = async (measured: () => number | Promise<number>) => {
    const times: number[] = []
    for (let i = 0; i < 9; i++) times.push(await measured())
    return median(times)
  }
  const node = await many(() => timeToEnd(['-e', '0']))
  const version = await many(() => timeToEnd([bin, '--version']))
  const first = await many(() => timeToFirstRequest(bin, cwd))
  row('node -e 0', `${node.toFixed(0)} ms`, '', '')
  row('retinue --version', `${version.toFixed(0)} ms`, `${(version / node).toFixed(2)} × node`, '≤ 120 ms')
  row(
    'retinue "task" to its first request',
    `${first.toFixed(0)} ms`,
    `${(first / node).toFixed(2)} × node`,
    '≤ 400 ms',
  )
}

async function sandbox(): Promise<void> {
  const { plain_ms, bwrap_ms, fenced_ms } = await sandboxTimes()
  row('a command, plain', `${plain_ms.toFixed(1)} ms`, '', '')
  row('the same in a bare bwrap', `${bwrap_ms.toFixed(1)} ms`, '', '')
  row(
    'the same in the sandbox, 2,000 files',
    `${fenced_ms.toFixed(1)} ms`,
    `${(fenced_ms / bwrap_ms).toFixed(2)} × bwrap`,
    '≤ 2 ×',
  )
}

async function workspaces(): Promise<void> {
  const shape = { children: 20, folders: 400, files_a_folder: 50, files_a_child: 3 }
  const { hand, ours, ratio } = await workspaceTimes(join(folder, 'workspaces'), shape, 2)
  const { children, folders, files_a_folder } = shape
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  row(
    `${children} sub-agents that write, in a repository of ${folders * files_a_folder} files, ${AT_ONCE} at once`,
    `${seconds(hand.wall_ms)} / ${seconds(ours.wall_ms)} s from the first git command to the last file landed`,
    `${ratio.toFixed(2)} × git by hand`,
    '≤ 1.5 ×',
  )
  const each = (ms: number) => (ms / children).toFixed(0)
  row(
    'a worktree of it, while others are made',
    `${each(hand.making_ms)} / ${each(ours.making_ms)} ms`,
    `${(ours.making_ms / hand.making_ms).toFixed(2)} × git by hand`,
    '',
  )
  row(
    'integrating one, while others are made',
    `${each(hand.integrating_ms)} / ${each(ours.integrating_ms)} ms`,
    `${(ours.integrating_ms / hand.integrating_ms).toFixed(2)} × git by hand`,
    '',
  )
}

async function memory(): Promise<void> {
  const bytes = await bytesPerIdleAgent(folder, 500)
  row('memory of an agent that waits for its model', `${(bytes / 1024).toFixed(0)} KiB`, '', '')
}

const PARTS = { plans, sandbox, workspaces, loops, trees, watching, appends, postgres, workers, starts, memory }
/** `npm run bench -- workers` measures one part. */
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in PARTS))
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}: ${Object.keys(PARTS).join(', ')}`)

try {
  mkdirSync(join(folder, 'work'))
  for (const [name, measure] of Object.entries(PARTS)) if (wanted.length === 0 || wanted.includes(name)) await measure()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const table = [['what', 'measured', 'against', 'goal'], ['---', '---', '---', '---'], ...rows]
process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
process.exit(0)
