import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { RunResult, StoredEvent } from '../../src/index.js'
import { ended, lines } from './cli.js'
import { TREE_SETTINGS } from './tree-run.js'
import { withTree } from './tree-work.js'

const VICTIM = fileURLToPath(new URL('./tree-victim.mjs', import.meta.url))

/**
 * At an event that the process appends, so long after the first one, as soon as an agent's event was seen, or as soon as
 * there is a file in the folder.
 */
export type Blow =
  | { position: number; when: 'before' | 'after' }
  | { after_ms: number }
  | { seen: { agent_id: string; type: StoredEvent['type'] } }
  | { file: string }

/** What one process did to a run before it ended or was killed. `took_ms`: since its first event. */
export type Worked = { pid: number; acknowledged: StoredEvent[]; result: RunResult | null; took_ms: number }

const WORK = { task: 'Do the work', settings: TREE_SETTINGS }

/** Works a run in a process of its own. `work`: what a new one is for, as the process is told. */
export async function workIn(
  cwd: string,
  run_id: string | null,
  blow: Blow | null,
  work: object = WORK,
): Promise<Worked> {
  const kill = blow && ('position' in blow || 'file' in blow) ? blow : null
  const order = { cwd, run_id, ...work, kill }
  const child = spawn(process.execPath, [VICTIM, JSON.stringify(order)], { stdio: 'pipe' })
  child.stdin.end()
  let began = 0
  child.stdout.once('data', () => {
    began = performance.now()
    if (blow && 'after_ms' in blow) setTimeout(() => child.kill('SIGKILL'), blow.after_ms)
  })
  if (blow && 'seen' in blow) {
    const { agent_id, type } = blow.seen
    createInterface(child.stdout).on('line', (line) => {
      const event = JSON.parse(line) as StoredEvent
      if (event.type === type && event.agent_id === agent_id) child.kill('SIGKILL')
    })
  }
  const { stdout, stderr, signal } = await ended(child)
  // A line that was cut was not acknowledged.
  const out = lines(stdout.slice(0, stdout.lastIndexOf('\n') + 1)) as (StoredEvent | ({ type: 'result' } & RunResult))[]
  const last = out.at(-1)
  const result = last?.type === 'result' ? last : null
  if (signal !== 'SIGKILL' && !result) throw new Error(`victim: ${stderr}`)
  const acknowledged = out.filter((line): line is StoredEvent => line.type !== 'result')
  return { pid: child.pid as number, acknowledged, result, took_ms: performance.now() - began }
}

export async function runOf(cwd: string): Promise<string | null> {
  return withTree(cwd, async (known) => (await known.runs())[0]?.run_id ?? null)
}

export function eventsOf(cwd: string, run_id: string): Promise<StoredEvent[]> {
  return withTree(cwd, (known) => known.events(run_id))
}
