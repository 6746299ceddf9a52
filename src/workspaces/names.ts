import { posix } from 'node:path'

/** The name of the root agent's tree, into which everything of a run is integrated; others have their agents' ids. */
export const INTEGRATION = 'integration'

/** Paths of a tree are from its top; people and agents write them from the folder that they work in. */
export function ownPath({ prefix }: { prefix: string }, path: string): string {
  return prefix === '' ? path : posix.relative(prefix, path)
}
