import type { Contract } from './contract.js'
import { endState } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import type { Landing, Receipt } from './receipt.js'
import type { AgentResult } from './result.js'

/** How a sub-agent ended, for whoever looks: a budget that ran out is no failure where something came of it. */
export function endedAs(final_status: 'completed' | 'failed', outcome: Outcome): 'completed' | 'incomplete' | 'failed' {
  return final_status === 'completed' && outcome === 'budget_exceeded' ? 'incomplete' : final_status
}

/** The same with the outcome, which mostly says it all. */
export function endInWords(ended: 'completed' | 'incomplete' | 'failed', outcome: Outcome): string {
  const says_it = ended === 'failed' ? endState(outcome) === 'failed' : ended === outcome
  return says_it ? outcome : `${ended}, ${outcome}`
}

/** Who works on a run, as a person would say it. An owner that is not a process of some machine is said as it is. */
export function ownerInWords(owner: string): string {
  const [, machine, pid] = /^([^:]+):[^:]+:(\d+):\d+$/.exec(owner) ?? []
  return machine === undefined ? owner : `process ${pid} on ${machine}`
}

/** Who goes on with a run: somebody by name, where it was not the person whose process it is, and the process. */
export function resumerInWords({ owner, by }: { owner: string; by?: string | undefined }): string {
  return by === undefined ? ownerInWords(owner) : `${by} in ${ownerInWords(owner)}`
}

/** Who chose the model of an agent. */
export function sourceInWords(source: Contract['model']['source']): string {
  return source === 'inherited' ? 'inherited from its parent' : `chosen by ${source}`
}

/** So many names are said before the rest is counted. */
const NAMES = 3

/** Names of agents in a sentence. */
export function namesInWords(ids: readonly string[]): string {
  if (ids.length > NAMES + 1) return `${ids.slice(0, NAMES).join(', ')} and ${ids.length - NAMES} more`
  return ids.length < 2 ? ids.join('') : `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`
}

/** What one waits for that has not begun. `label`: of the workers that may have it; null: any. */
export function slotInWords(label: string | null): string {
  return label === null ? 'waits for a slot' : `waits for a worker with the label ${label}`
}

/** What keeps a sub-agent from writing: the files of two that write at once never overlap. */
export function turnInWords(behind: readonly string[]): string {
  // It is above all of them, and only has to say so.
  if (behind.length === 1 && behind[0] === 'root') return 'waits until root lets it write'
  return `waits to write until ${namesInWords(behind)} closed`
}

/** What a fresh worktree is waiting for. */
export function setupInWords(command: string): string {
  return `setting up its worktree: ${command}`
}

/** What its parent is doing with the work of a sub-agent. */
export function checkInWords(after_merge: boolean, what: string): string {
  return `${after_merge ? 'is checked after the merge' : 'is checked'}: ${what}`
}

export const MERGING = 'is merged'

export function keptInWords(branch: string): string {
  return `kept on ${branch}`
}

/** Where the worktree of a branch is, from the folder that the run works in. */
export function worktreeOf(branch: string): string {
  return `.retinue/worktrees/${branch.slice('retinue/'.length)}`
}

/** Files that an agent wrote and no commit has, and the worktree that has them. null: that was in another checkout. */
export function leftOutInWords(paths: readonly string[], worktree: string | null): string {
  const where = worktree === null ? 'left behind in another checkout' : `in ${worktree}`
  return `${leftOutCount(paths)}: ${listed(paths)}, ${where}`
}

/** The same where there is little room. */
export function leftOutCount(paths: readonly string[]): string {
  return paths.length === 1 ? '1 file that git ignores' : `${paths.length} files that git ignores`
}

/** The same of the root agent; null: it wrote none. `is_there`: its worktree is. */
export function landingLeftOutInWords(landing: Landing, run_id: string, is_there = true): string | null {
  const { left_out = [], away } = landing
  if (left_out.length === 0) return null
  if (away) return `not in the folder: ${leftOutInWords(left_out, null)}`
  const where = worktreeOf(`retinue/${run_id}/integration`)
  const text = `not in the folder: ${leftOutInWords(left_out, where)}`
  return is_there ? text : `${text}, which is not there any more`
}

/** A commit as people write it. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 10)
}

/** So many sub-agents whose work is kept are named. */
const KEPT = 5

/** So many paths are said in one line. */
const PATHS = 8

/** How the result of a run reached the folder, or where it is instead and the one command that brings it in. */
export function landingInWords(
  { state, files, landed_commit, branch, reason, away }: Landing,
  run_id: string,
): string[] {
  if (files.length === 0) {
    // What was changed is not known, because it could not be committed.
    const lost = `nothing was brought into the folder: ${reason}`
    return state === 'landed' || reason === null ? [] : [lost, 'see what there is with: retinue worktrees']
  }
  const what = files.length === 1 ? '1 file' : `${files.length} files`
  if (state === 'kept') {
    const kept = `${what} ${branch === null ? 'kept' : keptInWords(branch)}, not in the folder`
    // Why it is elsewhere says where it is brought in.
    if (away) return [`${kept}: ${reason}`]
    return [
      `${kept}${reason === null ? '' : `: ${reason}`}`,
      `bring ${files.length === 1 ? 'it' : 'them'} in with: retinue apply ${run_id}`,
    ]
  }
  const paths = files.map(({ path, kind }) => (kind === 'modified' ? path : `${path} (${kind})`))
  return [broughtInWords(paths, landed_commit, reason)]
}

/** Work of sub-agents that did not get into the result, and the commands that show it and bring it in. */
export function keptWorkInWords({ kept_work = [] }: AgentResult, run_id: string): string[] {
  // What was merged and has more that git ignores is said with the files that were left out.
  const lost = kept_work.filter(({ outcome }) => outcome !== 'completed')
  const said = lost.slice(0, KEPT).map(({ agent_id, outcome }) => {
    const ended = outcome === 'budget_exceeded' ? 'is incomplete' : 'failed'
    const commands = `retinue diff ${run_id} ${agent_id}, retinue apply ${run_id} ${agent_id}`
    return `${agent_id} ${ended} (${outcome}); its work is kept: ${commands}`
  })
  const more = lost.length - KEPT
  return more > 0 ? [...said, `and the work of ${more} more is kept: retinue worktrees`] : said
}

/** What `apply` brought into the folder. */
export function appliedInWords({ paths, commit }: { paths: readonly string[]; commit: string | null }): string {
  if (paths.length === 0) return 'All of it is in the folder already'
  return broughtInWords(paths, commit, null)
}

function broughtInWords(paths: readonly string[], commit: string | null, reason: string | null): string {
  const what = paths.length === 1 ? '1 file' : `${paths.length} files`
  const how = commit === null ? 'uncommitted' : `committed as ${shortCommit(commit)}`
  const why = reason === null ? '' : ` (${reason})`
  return `${what} brought into the folder, ${how}${why}: ${listed(paths)}`
}

function listed(paths: readonly string[]): string {
  const more = paths.length > PATHS ? ` and ${paths.length - PATHS} more` : ''
  return `${paths.slice(0, PATHS).join(', ')}${more}`
}

/** What became of the work of a sub-agent that wrote, but for its gates: a label and a text of one line or more. */
export function receiptInWords(receipt: Receipt): [label: string, text: string][] {
  const { branch, base, commits, files, merged, kept, left_out } = receipt
  const rows: [string, string | null][] = [
    ['branch', `${branch}, from ${shortCommit(base)}`],
    ['commits', commits.map(({ id, title, author }) => `${shortCommit(id)} ${title} (${author})`).join('\n')],
    ['files', files.map(({ kind, path }) => `${kind} ${path}`).join('\n') || 'none changed'],
    ['merged', files.length === 0 && merged === null ? null : mergedInWords(receipt)],
    ['kept', kept === null ? null : `on ${kept.branch}, in ${kept.path}`],
    [
      'left out',
      left_out.length === 0
        ? null
        : `${left_out.join(', ')}: ${whyLeftOut(left_out, kept ? worktreeOf(branch) : null)}`,
    ],
  ]
  return rows.filter((row): row is [string, string] => row[1] !== null && row[1] !== '')
}

function whyLeftOut({ length }: readonly string[], worktree: string | null): string {
  const [it, is] = length === 1 ? ['it', 'it is'] : ['them', 'they are']
  const where =
    worktree === null
      ? `${length === 1 ? 'it was' : 'they were'} left behind in another checkout`
      : `${is} in ${worktree}`
  return `git ignores ${it}, so that no commit has ${it}; ${where}`
}

function mergedInWords({ merged }: Receipt): string {
  if (merged === null) return 'no'
  return `as ${shortCommit(merged.commit)}${merged.kind === 'fast_forward' ? ', by fast-forward' : ''}`
}
