import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createHost,
  createRetinue,
  openSqliteStore,
  type RebuiltRequest,
  type Retinue,
  type StoredEvent,
} from '../../src/index.js'
import { ended, lines } from './cli.js'
import { TREE_SETTINGS } from './tree-run.js'

/** These trees are about delegation; what worktrees come to after a kill is shown apart. */
const SETTINGS = { ...TREE_SETTINGS, workspace: { isolation: 'shared' as const } }

const VICTIM = fileURLToPath(new URL('./tree-victim.mjs', import.meta.url))

export type Kill = { position: number; when: 'before' | 'after' } | { file: string }

/** What one process did to a run before it ended or killed itself. */
export type Worked = { pid: number; acknowledged: StoredEvent[]; result: { outcome: string; text: string } | null }

/** Works a run in a process of its own. */
export async function workTree(cwd: string, run_id: string | null, kill: Kill | null): Promise<Worked> {
  const order = { cwd, run_id, task: 'Do the work', settings: SETTINGS, kill }
  const child = spawn(process.execPath, [VICTIM, JSON.stringify(order)], { stdio: 'pipe' })
  child.stdin.end()
  const { stdout, stderr, signal } = await ended(child)
  const out = lines(stdout) as (StoredEvent | { type: 'result'; outcome: string; text: string })[]
  const last = out.at(-1)
  const result = last?.type === 'result' ? last : null
  if (signal !== 'SIGKILL' && !result) throw new Error(`victim: ${stderr}`)
  const acknowledged = out.filter((line): line is StoredEvent => line.type !== 'result')
  return { pid: child.pid as number, acknowledged, result }
}

/** Calls of models that were made for the runs of a project, by whichever process. */
export function modelCalls(cwd: string): { pid: number; agent_id: string }[] {
  const file = join(cwd, '.retinue', 'calls.jsonl')
  return existsSync(file) ? (lines(readFileSync(file, 'utf8')) as { pid: number; agent_id: string }[]) : []
}

/** Looks at a project's runs from this process. */
export async function withTree<T>(cwd: string, look: (retinue: Retinue) => Promise<T>): Promise<T> {
  const host = createHost()
  const opened = await openSqliteStore({ file: join(cwd, '.retinue', 'retinue.db'), clock: host.clock })
  if (!opened.ok) throw new Error(opened.message)
  const retinue = await createRetinue({ cwd, host, store: opened.store, settings: SETTINGS })
  try {
    return await look(retinue)
  } finally {
    await retinue.close()
  }
}

/** All that an agent's model was told, but for how long things took, and what a call that was interrupted may cost. */
export function toldTo(agent_id: string, requests: readonly RebuiltRequest[]): string[] {
  const last = requests.filter((request) => request.agent_id === agent_id).at(-1)
  const texts = (last?.request.messages ?? []).flatMap((message) => {
    if (message.role === 'tool') return message.results.map(({ content }) => content)
    return message.role === 'user' ? [message.content] : []
  })
  return texts.map((text) =>
    text.replaceAll(/\b\d+\.\ds\b/g, '<seconds>').replaceAll(/cost unknown|\$\d+\.\d+/g, '<cost>'),
  )
}
