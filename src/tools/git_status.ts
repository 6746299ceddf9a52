import { z } from 'zod'
import { gitPaths, NO_REPOSITORY } from './git.js'
import { defineTool } from './tool.js'

export const gitStatus = defineTool({
  name: 'git_status',
  effect: 'read',
  repeatable: true,
  description: () => 'Shows the branch and the changed, staged and untracked files.',
  parameters: z.strictObject({}),
  async plan(_args, context) {
    const planned = await gitPaths(context, undefined, 'read')
    return planned.ok ? { ok: true, plan: { summary: 'git status', paths: planned.paths } } : planned
  },
  async execute(_args, context) {
    const repository = await context.repository()
    if (!repository) return { ok: false, content: NO_REPOSITORY }
    const status = await repository.status()
    if (!status.ok) return { ok: false, content: status.message }
    return { ok: true, content: status.text.trimEnd() || '[nothing changed]' }
  },
})
