import { z } from 'zod'
import { plannedPath, planPath } from './paths.js'
import { defineTool } from './tool.js'

export const findFiles = defineTool({
  name: 'find_files',
  effect: 'read',
  repeatable: true,
  description: (limits) =>
    `Finds files by name with a glob such as src/**/*.test.ts, ignored files left out. Up to ${limits.find_results}.`,
  parameters: z.strictObject({
    pattern: z.string().min(1),
    path: z.string().optional().describe('folder to look in'),
  }),
  plan: (args, context) =>
    planPath(context, args.path || '.', 'read', (path) => `find ${args.pattern}${path === '.' ? '' : ` in ${path}`}`),
  async execute(args, context, plan) {
    const limit = context.limits.find_results
    const under = plannedPath(plan)
    const found = await context.workspace.find(args.pattern, { under, limit, signal: context.signal })
    if (!found.ok) return { ok: false, content: found.message }
    if (found.paths.length === 0) return { ok: true, content: `[no file matches ${args.pattern}]` }
    const more = found.more ? [`[the first ${limit}; narrow the pattern or the path]`] : []
    return { ok: true, content: [...found.paths, ...more].join('\n') }
  },
})
