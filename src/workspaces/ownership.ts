import { posix } from 'node:path'
import { type Contract, isProtected, outsideOf } from '../domain/index.js'
import type { TreeChange } from '../host/index.js'

/** Why what a sub-agent changed is not its to change, or null. `changes` have paths as the agent writes them. */
export function ownershipFault(
  { permissions }: Contract,
  changes: readonly TreeChange[],
  uncommittable: readonly string[],
): string | null {
  const paths = changes.map(({ path }) => path)
  const outside = outsideOf(permissions.write_paths, paths)
  const beyond = paths.filter((path) => path.startsWith('../') && !outside.includes(path))
  const foreign = [...outside, ...beyond].sort()
  if (foreign.length > 0) return `it changed what it does not own: ${listed(foreign)}`
  const links = changes.filter(leadsOut).map(({ path, link }) => `${path} -> ${link}`)
  if (links.length > 0) return `it made links that lead out of the workspace: ${listed(links)}`
  const below = changes.filter(({ mode_before, mode_after }) => [mode_before, mode_after].includes(REPOSITORY_BELOW))
  const stuck = [...below.map(({ path }) => path), ...uncommittable].sort()
  if (stuck.length > 0)
    return `no commit can have what it wrote (repositories below, names git refuses): ${listed(stuck)}`
  return null
}

const REPOSITORY_BELOW = '160000'

function leadsOut({ path, link }: TreeChange): boolean {
  if (link === null) return false
  if (posix.isAbsolute(link)) return true
  const target = posix.normalize(posix.join(posix.dirname(path), link))
  // What belongs to git or Retinue is as little the workspace's as what is outside.
  return target === '..' || target.startsWith('../') || isProtected(target)
}

const NAMED = 20

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED
  return rest > 0 ? `${names.slice(0, NAMED).join(', ')} and ${rest} more` : names.join(', ')
}
