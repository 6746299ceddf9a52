import { posix } from 'node:path'

/** The name of the root agent's tree, into which everything of a run is integrated; others have their agents' ids. */
export const INTEGRATION = 'integration'

/** The name of what a sub-agent reads of its parent's tree in another checkout. `mark`: whose copy it is. */
export function copyName(reader: string, mark: string): string {
  return `${reader}${COPY}${mark}`
}

export function isCopy(name: string): boolean {
  return name.includes(COPY)
}

const COPY = '-reads-'

/** Paths of a tree are from its top; people and agents write them from the folder that they work in. */
export function ownPath({ prefix }: { prefix: string }, path: string): string {
  return prefix === '' ? path : posix.relative(prefix, path)
}

/** The id of the agent whose work is that of the run. */
export const ROOT = 'root'
