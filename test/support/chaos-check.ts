import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredEvent } from '../../src/index.js'
import { endsOf } from './busy-tree.js'
import type { Given, Storm } from './chaos-storm.js'
import { lines } from './cli.js'
import { queried } from './postgres.js'
import { isAlive } from './processes.js'
import { git } from './project.js'

type Call = { at: number; pid: number; run_id: string; agent_id: string; purpose: string }

/** The calls of models, by run. */
export type Ledger = Map<string, Call[]>

/** What was written down outside the database. */
export function readLedger(ledger: string): Ledger {
  const calls: Ledger = new Map()
  for (const call of lines(readFileSync(join(ledger, 'calls.jsonl'), 'utf8')) as Call[]) {
    const known = calls.get(call.run_id)
    if (known) known.push(call)
    else calls.set(call.run_id, [call])
  }
  return calls
}

/** Whatever is not as it must be of a run that went through the storm. */
export async function faultsOf(storm: Storm, { run, run_id, problems }: Given, ledger: Ledger): Promise<string[]> {
  const { retinue, cwd } = storm
  const faults = [...problems]
  const log = await retinue.events(run_id)
  const { ends, faults: inLog } = endsOf(log)
  faults.push(...inLog)
  for (const [id, end] of Object.entries({ ...run.ends, root: run.outcome })) {
    if (ends[id] !== end) faults.push(`${id} ended as ${ends[id]}, not ${end}`)
  }
  const tampering = await retinue.store.verify(run_id)
  if (tampering) faults.push(`the log was tampered with: ${tampering.message}`)
  for (const { at, agent_id, pid } of ledger.get(run_id) ?? []) {
    const ended = agent_id === 'root' ? undefined : endOf(log, agent_id)
    if (ended && at > ended.at)
      faults.push(`the model of ${agent_id} was called by ${pid} ${at - ended.at} ms after its end`)
  }
  const commit = (await retinue.result(run_id))?.landing?.commit ?? null
  const written = (path: string) => (commit === null ? readText(join(cwd, path)) : inCommit(cwd, commit, path))
  const made = (written(`${run.path}-effects`) ?? '').split('\n')
  for (const [id, mark] of Object.entries(run.effects)) {
    const times = made.filter((line) => line === mark).length
    const results = log.filter(
      (event) => event.type === 'tool.finished' && event.agent_id === id && event.data.tool === 'run_command',
    )
    const committed = results.some((event) => event.type === 'tool.finished' && event.data.status !== 'interrupted')
    if (committed ? times !== 1 : times > 1)
      faults.push(`the command of ${id} was made ${times} times${committed ? '' : ', and was interrupted'}`)
  }
  for (const [path, content] of Object.entries(run.files)) {
    const found = written(path)
    if (found !== content) faults.push(`${path} is ${JSON.stringify(found)}`)
  }
  return faults
}

function endOf(log: readonly StoredEvent[], id: string): StoredEvent | undefined {
  return log.find(
    ({ type, agent_id }) =>
      agent_id === id && (type === 'agent.subagent_waiting_for_merge' || type === 'agent.subagent_failed'),
  )
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Of a run that had worktrees; it may have landed, or be kept because the folder changed meanwhile. */
function inCommit(cwd: string, commit: string, path: string): string | null {
  try {
    return git(cwd, `--git-dir=${join(cwd, '.retinue', 'git')}`, 'show', `${commit}:${path}`)
  } catch {
    return null
  }
}

/** Worktrees, workers and commands that are there although everything is over. */
export async function leftBehind({ retinue, cwd, ledger }: Storm): Promise<string[]> {
  const trees = (await retinue.worktrees())
    .filter(({ path }) => path !== null)
    .map((tree) => `a worktree: ${JSON.stringify(tree)}`)
  const others = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid)
  // By what they were told, not by their numbers: in so long a time others have these.
  const workers = others.filter((pid) => wasTold(pid, ledger)).map((pid) => `the worker ${pid}`)
  const commands = others.filter((pid) => worksIn(pid, cwd)).map((pid) => `the process ${pid} in the folder`)
  return [...trees, ...workers, ...commands]
}

function wasTold(pid: number, ledger: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(ledger) && isAlive(pid)
  } catch {
    return false
  }
}

function worksIn(pid: number, cwd: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(cwd) && isAlive(pid)
  } catch {
    return false
  }
}

/** For whoever looks for the cause: what is known of a run that is not over. */
export async function accountOf(storm: Storm, { run_id, run }: Given): Promise<string> {
  const ask = async (sql: string) => {
    const rows = await queried(storm.store, sql).catch((error: Error) => [{ error: error.message }])
    return rows.map((row) => JSON.stringify(row))
  }
  const log = await storm.retinue.events(run_id).catch(() => [])
  return [
    `run ${run.seed}, ${run_id}`,
    ...log.map(
      ({ position, at, agent_id, type, data }) =>
        `${position} ${new Date(at).toISOString()} ${agent_id} ${type} ${JSON.stringify(data).slice(0, 160)}`,
    ),
    ...(await ask(`SELECT agent_id, seq, epoch, owner, expires_at FROM retinue.streams WHERE run_id = '${run_id}'`)),
    ...(await ask(`SELECT id, kind, data FROM retinue.signals WHERE run_id = '${run_id}'`)),
    ...(await ask(
      `SELECT workflow_uuid, status, executor_id, recovery_attempts, created_at, updated_at, output, error FROM retinue_dbos.workflow_status WHERE workflow_uuid LIKE '${run_id}/%' ORDER BY created_at`,
    )),
    ...(await ask('SELECT executor, beat_at, now() FROM retinue_dbos.workers')),
  ].join('\n')
}
