import { realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isProtected, isRecord } from '../../domain/index.js'
import type { Fence } from '../host.js'
import { isInside } from '../paths.js'
import { USUAL_PROGRAMS } from '../programs.js'
import { everyLayerMatches } from './layers.js'
import { outermost } from './machine.js'
import { SYSTEM_PLACES } from './places.js'

/** Without these no command runs at all. */
const NEEDED = [...SYSTEM_PLACES.filter((place) => place !== '/'), ...USUAL_PROGRAMS]

/** What is concealed around the root, and what is seen of it. All absolute. */
export type Concealment = {
  /** None is inside another. */
  concealed: string[]
  seen: string[]
}

/** Why a fence cannot conceal what it is to conceal, or would show what nobody may see; null where it can. */
export function cannotConceal({ root, concealed = [], seen = [] }: Fence): string | null {
  for (const folder of concealed) {
    if (isInside(root, folder)) return `${folder} cannot be concealed from a command that works in ${root}`
    const needed = folder === '/' ? '/bin' : NEEDED.find((place) => isInside(folder, place))
    if (needed !== undefined) {
      return `${folder} cannot be concealed, because commands need ${needed}; use a workspace below it`
    }
    for (const path of seen) {
      if (isInside(path, folder)) return `${path} cannot be shown, because ${folder} is to be concealed`
      if (isInside(folder, path) && belongsToOthers(root, relative(folder, path), path)) {
        return `${path} belongs to git or Retinue and is not shown to commands; do not link to it (.worktreeinclude)`
      }
    }
  }
  return null
}

/** What is seen besides the root itself, without links that the agent may not follow. */
export function concealmentOf(fence: Fence): Concealment {
  const seen = (fence.seen ?? []).filter((path) => {
    const name = isInside(fence.root, path) ? null : linkedAs(fence, path)
    return !isInside(fence.root, path) && (name === null || everyLayerMatches(fence.read_paths, name))
  })
  return { concealed: outermost([...new Set(fence.concealed)]), seen: outermost([...new Set(seen)]) }
}

/**
 * The path below the root that leads to something outside: it has the same place in the person's folder as the link in
 * the worktree. null where there is none, so that the rules for what is below the root do not speak of it.
 */
export function linkedAs({ root, concealed = [], seen = [] }: Fence, path: string): string | null {
  const tops = [root, ...seen.filter((one) => one !== root && isInside(one, root))]
  for (const folder of concealed.filter((one) => one !== path && isInside(one, path))) {
    for (const top of tops) {
      const link = join(top, relative(folder, path))
      if (link !== root && isInside(root, link) && realOf(link) === path) return relative(root, link)
    }
  }
  return null
}

/** The worktree that the agent works in is Retinue's too, but nothing else of what is kept beside it is for the agent. */
function belongsToOthers(root: string, below: string, path: string): boolean {
  const [first, second, run, name, ...rest] = below.split('/')
  const isTree = first === '.retinue' && second === 'worktrees' && run !== undefined && name !== undefined
  if (isTree && isInside(path, root)) return isProtected(rest.join('/'))
  return isRecord(below) || below.split('/').some((part) => part === '.git')
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
