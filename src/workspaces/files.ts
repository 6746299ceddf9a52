import type { Repository, Workspace } from '../host/index.js'

/** What an agent works in: files, git, and what stands around its commands besides what its contract says. */
export type Files = {
  workspace: Workspace
  repository: () => Promise<Repository | null>
  /** In a tree of an agent's own: what of the person's is not seen. null: they are the person's folder. */
  around: { concealed: readonly string[]; seen: readonly string[] } | null
}
