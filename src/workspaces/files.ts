import type { Repository, Workspace } from '../host/index.js'

/** What an agent works in: files, git, and what stands around its commands besides what its contract says. */
export type Files = {
  workspace: Workspace
  repository: () => Promise<Repository | null>
  /** Whether they are a tree of an agent's own, in which nothing is lost that is not committed. */
  is_tree: boolean
  around: { concealed: readonly string[]; seen: readonly string[] }
}
