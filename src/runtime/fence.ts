import { type Contract, matchesName } from '../domain/index.js'
import type { Fence } from '../host/index.js'

/** Around an agent that has a tree of its own: what it must not see of the person's folder, and what it sees after all. */
export type Around = Required<Pick<Fence, 'concealed' | 'seen'>>

/** What stands around the commands of an agent: its contract, in terms that an operating system understands. */
export function fenceOf({ permissions, parent }: Contract, root: string, around?: Around): Fence {
  const { read_paths, write_paths, network } = permissions
  const rules = permissions.rules.flatMap((layer) => layer.rules).filter(({ decision }) => decision !== 'allow')
  // What a tool may not do, or only after a question, a command would do without one.
  const kept = (tool: string) => rules.filter((rule) => matchesName(rule.tool, tool)).map(({ pattern }) => pattern)
  const globs = (patterns: (string | null)[]) => [...new Set(patterns.map((pattern) => pattern ?? '**'))]
  return {
    root,
    read_paths,
    write_paths,
    hidden: [...globs(kept('read_file')), ...(parent.depth > 0 ? ['.retinue'] : [])],
    shown: ['.retinue/skills'],
    read_only: globs([...kept('write_file'), ...kept('edit_file')].filter((pattern) => pattern !== null)),
    network: network === 'all',
    ...around,
  }
}
