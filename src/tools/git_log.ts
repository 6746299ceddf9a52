import { z } from 'zod'
import { gitPaths, NO_REPOSITORY, pathsForGit } from './git.js'
import { defineTool } from './tool.js'

const DEFAULT_COMMITS = 20
const MAX_COMMITS = 200

export const gitLog = defineTool({
  name: 'git_log',
  effect: 'read',
  repeatable: true,
  description: () => `Shows the latest commits, ${DEFAULT_COMMITS} unless limit says otherwise.`,
  parameters: z.strictObject({
    limit: z.int().min(1).max(MAX_COMMITS).optional(),
    path: z.string().optional().describe('only commits that changed this'),
  }),
  async plan(args, context) {
    const planned = await gitPaths(context, args.path ? [args.path] : undefined, 'read')
    if (!planned.ok) return planned
    return { ok: true, plan: { summary: `git log${args.path ? ` ${args.path}` : ''}`, paths: planned.paths } }
  },
  async execute(args, context, plan) {
    const repository = await context.repository()
    if (!repository) return { ok: false, content: NO_REPOSITORY }
    const path = pathsForGit(plan)?.[0]
    const log = await repository.log({ limit: args.limit ?? DEFAULT_COMMITS, ...(path ? { path } : {}) })
    if (!log.ok) return { ok: false, content: log.message }
    return { ok: true, content: log.text.trimEnd() || '[no commits]' }
  },
})
