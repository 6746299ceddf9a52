import type { KeptTree } from '../../index.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { line, type Paint, paintFor } from '../style.js'

type ListOptions = StoreOptions & { json?: boolean }

export async function worktrees(options: ListOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const trees = await retinue.worktrees()
    if (options.json) {
      if (trees.length === 0) process.stdout.write('[]\n')
      for (const tree of trees) process.stdout.write(`${JSON.stringify(tree)}\n`)
      return EXIT.ok
    }
    if (trees.length === 0) process.stdout.write(`No worktrees and no branches of runs in ${retinue.cwd}.\n`)
    const paint = paintFor(process.stdout, process.env)
    for (const tree of trees) process.stdout.write(`${treeLine(tree, paint)}\n`)
    if (trees.some(({ state }) => state === 'left_over')) {
      process.stdout.write(paint.dim('What is left over goes with: retinue gc\n'))
    }
    return EXIT.ok
  })
}

export async function gc(options: ListOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const { removed, kept } = await retinue.gc()
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ removed, kept })}\n`)
      return EXIT.ok
    }
    if (removed.length + kept.length === 0) process.stdout.write('There was nothing to remove.\n')
    const paint = paintFor(process.stdout, process.env)
    for (const tree of removed) process.stdout.write(`removed ${line(tree.branch)} ${paint.dim(line(tree.why))}\n`)
    for (const tree of kept) process.stdout.write(`${treeLine(tree, paint)}\n`)
    return EXIT.ok
  })
}

const STATES = { in_use: 'in use', kept: 'kept', left_over: 'left over' } as const

function treeLine({ state, branch, has_branch, path, why }: KeptTree, { dim, green, yellow }: Paint): string {
  const colour = { in_use: green, kept: yellow, left_over: dim }[state]
  const place = [...(has_branch ? [branch] : []), ...(path === null ? [] : [dim(line(path))])].join(' ')
  return `${colour(STATES[state].padEnd(10))}${place}  ${dim(line(why))}`
}
