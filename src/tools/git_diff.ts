import { z } from 'zod'
import { gitPaths, NO_REPOSITORY, pathsForGit } from './git.js'
import { defineTool } from './tool.js'

export const gitDiff = defineTool({
  name: 'git_diff',
  effect: 'read',
  repeatable: true,
  description: () => 'Shows changes that are not staged; with staged the staged ones; with ref all since that commit.',
  parameters: z.strictObject({
    staged: z.boolean().optional(),
    ref: z.string().optional().describe('commit, branch or range: main..HEAD'),
    paths: z.array(z.string().min(1)).optional(),
  }),
  async plan(args, context) {
    const { ref } = args
    // An option or a blob (`HEAD:path`) in the place of a commit would reach past the paths that are authorized.
    if (ref && /^-|[:\s]/.test(ref)) return { ok: false, message: `ref: "${ref}" is not a commit, branch or range` }
    const planned = await gitPaths(context, args.paths, 'read')
    if (!planned.ok) return planned
    const what = ['git diff', args.staged ? 'staged' : '', ref ?? '', ...(args.paths ?? [])]
    return { ok: true, plan: { summary: what.filter(Boolean).join(' '), paths: planned.paths } }
  },
  async execute(args, context, plan) {
    const repository = await context.repository()
    if (!repository) return { ok: false, content: NO_REPOSITORY }
    const paths = pathsForGit(plan)
    const diff = await repository.diff({
      ...(args.staged ? { staged: true } : {}),
      ...(args.ref ? { ref: args.ref } : {}),
      ...(paths ? { paths } : {}),
    })
    if (!diff.ok) return { ok: false, content: diff.message }
    return { ok: true, content: readable(diff.text, context.mayRead).trimEnd() || '[no differences]' }
  },
})

/** The diff without the files that may not be read. One whose name cannot be made out is left out too. */
function readable(diff: string, mayRead: (path: string) => boolean): string {
  return diff
    .split(/^(?=diff --git )/m)
    .map((file) => {
      const [, from, to] = /^diff --git a\/(.+?) b\/(.+)$/m.exec(file) ?? []
      const shown = from !== undefined && to !== undefined && mayRead(from) && mayRead(to)
      return file === '' || shown ? file : `[the changes of ${to ?? 'a file'} may not be read]\n`
    })
    .join('')
}
