import { type KeptTree, type Retinue, RetinueError } from '../../index.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { line, plural } from '../style.js'

type DiscardOptions = StoreOptions & { yes?: boolean; json?: boolean }

/** Removes what a run has left, its work included: nobody can take that back, so it is asked about. */
export async function discard(id: string, options: DiscardOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { run_id, closed } = await runOf(retinue, id)
    const going = closed ? (await retinue.worktrees()).filter((tree) => tree.run_id === run_id) : []
    // What is in use is refused anyway, so that nobody is asked about it.
    const asks = going.length > 0 && !going.some(({ state }) => state === 'in_use')
    if (asks && options.yes !== true && !(await isWanted(run_id, going))) return EXIT.interrupted
    const removed = await retinue.discard(run_id)
    if (options.json) process.stdout.write(`${JSON.stringify({ run_id, removed })}\n`)
    else if (removed.length === 0) process.stdout.write(`Nothing of run ${run_id} is kept.\n`)
    else for (const tree of removed) process.stdout.write(`removed ${line(placeOf(tree))}\n`)
    return EXIT.ok
  })
}

/** Also one that this store does not know, of which there are worktrees. */
async function runOf(retinue: Retinue, id: string): Promise<{ run_id: string; closed: boolean }> {
  try {
    const { run_id, status } = await retinue.find(id)
    return { run_id, closed: status === 'closed' }
  } catch (error) {
    if (!(error instanceof RetinueError) || error.code !== 'not_found' || id === '') throw error
    const known = new Set((await retinue.worktrees()).map(({ run_id }) => run_id))
    const fitting = known.has(id) ? [id] : [...known].filter((run_id) => run_id.startsWith(id))
    if (fitting.length > 1)
      throw new RetinueError('input', `More than one run starts with "${id}": give more of the id`)
    if (!fitting[0]) throw error
    return { run_id: fitting[0], closed: true }
  }
}

async function isWanted(run_id: string, going: readonly KeptTree[]): Promise<boolean> {
  const what = going.map((tree) => `  ${line(placeOf(tree))}: ${line(tree.why)}`).join('\n')
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    const without = 'Nothing was removed, since nobody can be asked: say --yes to remove'
    throw new RetinueError('input', `${without} for good\n${what}`)
  }
  process.stderr.write(`${what}\n`)
  const { confirm, isCancel } = await import('@clack/prompts')
  const message = `Remove ${plural(going.length, 'worktree or branch', 'worktrees and branches')} of run ${run_id} for good?`
  const answer = await confirm({ message, initialValue: false, output: process.stderr })
  return !isCancel(answer) && answer
}

function placeOf({ branch, has_branch, path }: KeptTree): string {
  if (path === null) return branch
  return has_branch ? `${branch}, in ${path}` : path
}
