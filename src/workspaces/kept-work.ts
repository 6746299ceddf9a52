import type { AgentResult, Landing, Receipt } from '../domain/index.js'
import { fault, type KeptResult } from './kept-fault.js'
import { INTEGRATION } from './names.js'

/** A closed sub-agent, or one that is not: then it has no result. */
export type KnownAgent = { title: string; result: AgentResult | null }

/** Work that is kept on a branch. */
export type KeptWork = {
  /** Of its tree. */
  name: string
  /** Whose it is, for the beginning of a sentence. */
  whose: string
  /** The work itself, for the beginning of a sentence. */
  what: string
  /** What `retinue diff` and `retinue apply` are given. */
  words: string
  /** What it changed, as far as its end knew. */
  files: string[]
  /** Where a sub-agent began; null: where the run did. */
  base: string | null
}

export function workOfRun(run_id: string, landing: Landing | null): KeptResult<{ work: KeptWork }> {
  if (landing === null) return noTree(run_id)
  const { state, files, reason } = landing
  if (files.length === 0 && (state === 'landed' || reason === null)) {
    return fault('nothing', `Run ${run_id} changed nothing, there is nothing to apply`)
  }
  if (state === 'landed')
    return fault('nothing', `The result of run ${run_id} is already in the folder that it was begun in`)
  if (files.length === 0) {
    return fault('nothing', `Run ${run_id} has no result: ${reason}. See what there is with: retinue worktrees`)
  }
  const paths = files.map(({ path }) => path)
  const what = `The result of run ${run_id}`
  return {
    ok: true,
    work: { name: INTEGRATION, whose: `Run ${run_id}`, what, words: run_id, files: paths, base: null },
  }
}

export function workOfAgent(
  run_id: string,
  agent_id: string,
  agent: KnownAgent | null,
): KeptResult<{ work: KeptWork & { base: string } }> {
  const whose = `${agent_id} of run ${run_id}`
  if (agent === null) {
    return fault('unknown', `Run ${run_id} has no agent "${agent_id}". retinue show ${run_id} names those it has`)
  }
  if (agent.result === null) return fault('not_closed', `${whose} is not closed, and its work may still be merged`)
  const { receipt } = agent.result
  const obstacle = receipt ? nothingKept(run_id, whose, receipt) : wroteNothing(whose)
  if (obstacle !== null) return fault('nothing', obstacle)
  const { base, files } = receipt as Receipt
  const paths = files.map(({ path }) => path)
  const what = `The work of ${whose}`
  return { ok: true, work: { name: agent_id, whose, what, words: `${run_id} ${agent_id}`, files: paths, base } }
}

function nothingKept(run_id: string, whose: string, { merged, kept, files }: Receipt): string | null {
  if (merged !== null) return `What ${whose} wrote was merged into the tree of its parent. See retinue diff ${run_id}`
  if (files.length === 0) return `${whose} changed nothing, there is nothing to apply`
  return kept === null ? `Nothing of ${whose} was kept` : null
}

function wroteNothing(whose: string): string {
  return `${whose} had no tree of its own: it wrote nothing, or where its parent works`
}

export function noTree(run_id: string) {
  const how = 'what it changed, it changed in the folder itself'
  return fault('nothing', `Run ${run_id} has no tree of its own: ${how}. See retinue show ${run_id}`)
}
