import type { Access } from '../domain/index.js'
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

/** Planned paths for git; undefined: all of the workspace. */
export function pathsForGit(plan: Plan): string[] | undefined {
  const paths = plan.paths.map(({ path }) => path)
  return paths.includes('.') ? undefined : paths
}
