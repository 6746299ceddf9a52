import type { Authority } from '../domain/index.js'
import type { Fence } from '../host/index.js'

/** What stands around the commands of an agent: its contract, in terms that an operating system understands. */
export function fenceOf(permissions: Authority, root: string): Fence {
  const { read_paths, write_paths, network } = permissions
  // What read_file may not read, or only after a question, a command would read without one.
  const hidden = permissions.rules
    .flatMap((layer) => layer.rules)
    .filter((rule) => rule.tool === 'read_file' && rule.decision !== 'allow')
    .map((rule) => rule.pattern ?? '**')
  return { root, read_paths, write_paths, hidden: [...new Set(hidden)], network: network === 'all' }
}
