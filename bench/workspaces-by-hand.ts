import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from './workspaces-git.js'
import { AT_ONCE, type Shape, type Times, writtenBy } from './workspaces-work.js'

/**
 * What somebody would write who has the same to do and no more: nothing is checked, recorded or survives. As many
 * children at once, and joined in the order of their numbers.
 */
export async function byHand(folder: string, scratch: string, shape: Shape): Promise<Times> {
  await mkdir(scratch, { recursive: true })
  const started = performance.now()
  const base = await capture(folder, join(scratch, 'index'))
  const integration = join(scratch, 'integration')
  await git(folder, ['worktree', 'add', '-q', '-b', 'hand/integration', integration, base])

  let making_ms = 0
  let integrating_ms = 0
  const atOnce = slots(AT_ONCE)
  const inTurn = slots(1)
  const made = Array.from({ length: shape.children }, (_, child) =>
    atOnce(async () => {
      const top = join(scratch, `child-${child}`)
      const from = performance.now()
      // Two that are begun at once trip over each other.
      await inTurn(() => git(folder, ['worktree', 'add', '-q', '--no-checkout', '-b', `hand/${child}`, top, base]))
      await git(top, ['reset', '-q', '--hard'])
      making_ms += performance.now() - from
      for (const { path, content } of writtenBy(child, shape)) await writeFile(join(top, path), content)
      return { top, theirs: await commitAll(top, base, `child ${child}`) }
    }),
  )
  let result = base
  for (const [child, work] of made.entries()) {
    const { top, theirs } = await work
    const from = performance.now()
    const tree = await git(folder, ['merge-tree', '--write-tree', result, theirs])
    result = await git(folder, ['commit-tree', tree, '-p', result, '-p', theirs, '-m', `Merge of child ${child}`])
    await git(integration, ['reset', '-q', '--hard', result])
    await removeTree(folder, top)
    await inTurn(() => git(folder, ['branch', '-q', '-D', `hand/${child}`]))
    integrating_ms += performance.now() - from
  }
  await land(folder, join(scratch, 'index'), base, result)
  await git(folder, ['worktree', 'remove', '--force', integration])
  await git(folder, ['branch', '-q', '-D', 'hand/integration'])
  const wall_ms = performance.now() - started
  const tree = await git(folder, ['rev-parse', `${result}^{tree}`])
  await rm(scratch, { recursive: true, force: true })
  return { wall_ms, making_ms, integrating_ms, tree }
}

/** What is there now, without touching the person's own index. */
async function capture(folder: string, index: string): Promise<string> {
  const env = { GIT_INDEX_FILE: index }
  await git(folder, ['read-tree', 'HEAD'], { env })
  await git(folder, ['add', '-A'], { env })
  const tree = await git(folder, ['write-tree'], { env })
  return git(folder, ['commit-tree', tree, '-p', 'HEAD', '-m', 'captured'])
}

async function commitAll(top: string, base: string, message: string): Promise<string> {
  await git(top, ['status', '--porcelain'])
  await git(top, ['add', '-A'])
  const tree = await git(top, ['write-tree'])
  const commit = await git(top, ['commit-tree', tree, '-p', base, '-m', message])
  await git(top, ['update-ref', 'HEAD', commit])
  return commit
}

/** Only if the folder is as it was. */
async function land(folder: string, index: string, base: string, result: string): Promise<void> {
  const env = { GIT_INDEX_FILE: index }
  await git(folder, ['add', '-A'], { env })
  const now = await git(folder, ['write-tree'], { env })
  if (now !== (await git(folder, ['rev-parse', `${base}^{tree}`]))) throw new Error('the folder changed')
  const paths = await git(folder, ['diff-tree', '-r', '-z', '--name-only', base, result])
  await git(folder, ['read-tree', result], { env })
  await git(folder, ['checkout-index', '-f', '-z', '--stdin'], { env, stdin: paths })
}

/** It reads what belongs to other worktrees, and fails before it does anything if one of them is being made. */
async function removeTree(folder: string, top: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const failed = await git(folder, ['worktree', 'remove', '--force', top]).then(
      () => null,
      (error: Error) => error,
    )
    if (failed === null) return
    if (tries === 5) throw failed
  }
}

/** So many at a time, in the order in which they come. */
function slots(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
