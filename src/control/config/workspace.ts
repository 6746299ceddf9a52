import { z } from 'zod'
import { landSchema } from '../../domain/index.js'
import { DEFAULTS } from './defaults.js'
import { checked, setting } from './setting.js'

export function workspaceSettingsSchema() {
  const usual = DEFAULTS.workspace
  return z.strictObject({
    isolation: setting(
      z.enum(['worktree', 'shared']),
      'Where sub-agents that write do so. `worktree`: each in a tree of its own, which is merged when it is done. ' +
        '`shared`: all of them in the folder itself, at the same time.',
      { default: usual.isolation, examples: ['worktree'] },
    ),
    setup: setting(
      checked((command) =>
        command.trim() === '' ? 'an empty command sets nothing up: write null for none' : null,
      ).nullable(),
      'A command that is run in each fresh worktree, behind a fence in which all of that worktree is writable, and nothing ' +
        'else; without network unless its agent has it. A rule that denies it to run_command denies it here. What it ' +
        'leaves is removed, but for files that git ignores. `null`: none.',
      { default_text: 'none', examples: ['npm ci'] },
    ),
    repair: setting(
      z.boolean(),
      'Whether a merge that conflicts gets one more sub-agent, which is to resolve it. If not, the work stays on its branch.',
      { default: usual.repair, examples: [false] },
    ),
    land: setting(
      landSchema,
      'How the result of a run that succeeded reaches the folder, if nothing there changed in between. `changes`: as changes ' +
        'that are not committed. `commit`: as a commit. `branch`: it stays on a branch, and `retinue apply` brings it in.',
      { default: usual.land, examples: ['branch'] },
    ),
  })
}
