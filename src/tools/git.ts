import { relative, sep } from 'node:path'
import type { Access } from '../domain/index.js'
import type { Repository } from '../host/index.js'
import type { Plan, ToolContext } from './tool.js'

export const NO_REPOSITORY = 'not a git repository'

type PathsResult = { ok: true; paths: Plan['paths'] } | { ok: false; message: string }

/** Where paths given to a git tool really are; the whole workspace where none is given. */
export async function gitPaths(
  context: ToolContext,
  given: string[] | undefined,
  access: Access,
): Promise<PathsResult> {
  if (!(await context.repository())) return { ok: false, message: NO_REPOSITORY }
  const paths: Plan['paths'] = []
  for (const path of given?.length ? given : ['.']) {
    const resolved = await context.workspace.resolve(path)
    if (!resolved.ok) return { ok: false, message: resolved.message }
    paths.push({ path: resolved.path, access })
  }
  return { ok: true, paths }
}

/**
 * Planned paths as git wants them, relative to the work tree. undefined: all of it. A workspace can be a folder
 * inside a repository; what lies outside it is then none of this agent's business.
 */
export function inWorkTree(context: ToolContext, repository: Repository, plan: Plan): string[] | undefined {
  const prefix = relative(repository.work_tree, context.workspace.root).split(sep).join('/')
  const paths = plan.paths.map(({ path }) => (path === '.' ? prefix : prefix === '' ? path : `${prefix}/${path}`))
  return paths.includes('') ? undefined : paths
}
