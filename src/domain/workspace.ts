import { z } from 'zod'

/** Where an agent works, narrowest first. */
export const ISOLATIONS = ['read_only', 'worktree', 'shared'] as const
export const isolationSchema = z.enum(ISOLATIONS)
export type Isolation = z.infer<typeof isolationSchema>

export function narrowerIsolation(a: Isolation, b: Isolation): Isolation {
  return ISOLATIONS.indexOf(a) <= ISOLATIONS.indexOf(b) ? a : b
}

/** How the trees of files that agents work in are made and joined. */
export type WorkspaceSettings = {
  /** `worktree`: each sub-agent that writes has a tree of its own. `shared`: all write into the folder itself. */
  isolation: Exclude<Isolation, 'read_only'>
  /** A command that is run in each fresh worktree, behind a fence in which that alone is writable. null: none. */
  setup: string | null
  /** Whether a merge conflict gets one sub-agent that resolves it. */
  repair: boolean
  /** How the result of a run that succeeded reaches the folder. `branch`: it does not. */
  land: Land
}

export const landSchema = z.enum(['changes', 'commit', 'branch'])
export type Land = z.infer<typeof landSchema>

export const WORKSPACE_DEFAULTS: WorkspaceSettings = {
  isolation: 'worktree',
  setup: null,
  repair: false,
  land: 'changes',
}

/**
 * The folders that globs name before their first wildcard, as far as they are owned as a whole. A command can only make
 * files in a folder that is there.
 */
export function ownedFolders(owns: readonly string[]): string[] {
  return owns.flatMap((glob) => {
    const folder =
      /^(?:\.\/)?((?:[^*?{}/]+\/)+)\*\*(?:\/\*)?$/.exec(glob)?.[1] ?? /^(?:\.\/)?((?:[^*?{}/]+\/)+)$/.exec(glob)?.[1]
    return folder === undefined ? [] : [folder.slice(0, -1)]
  })
}
