import type { Land } from '../../domain/index.js'
import type { ResolvedConfig } from './resolve.js'
import type { Config } from './schema.js'
import type { Path } from './yaml-nodes.js'

type Refusal = { path: Path; what: string }

/** How much happens to the person's folder, least first. */
const LANDS: readonly Land[] = ['branch', 'changes', 'commit']

/**
 * What a project's file says about worktrees and landing that needs the person's word. A command for fresh worktrees is
 * one that no model chose and that nobody is asked about, in whichever mode the run is.
 */
export function workspaceRefusals({ workspace = {} }: Config, without: ResolvedConfig): Refusal[] {
  const held = without.workspace
  const { isolation, setup, repair, land } = workspace
  const refusals: Refusal[] = []
  const refuse = (name: string, what: string) => refusals.push({ path: ['workspace', name], what })
  if (isolation === 'shared' && held.isolation !== 'shared') {
    refuse('isolation', 'let sub-agents write into your folder without a worktree')
  }
  if (setup && setup !== held.setup) refuse('setup', 'have a command run in each fresh worktree')
  if (repair && !held.repair) refuse('repair', 'spend a further sub-agent on each conflict')
  if (land && LANDS.indexOf(land) > LANDS.indexOf(held.land)) {
    refuse('land', `widen how results reach your folder from ${held.land} to ${land}`)
  }
  return refusals
}
