import { z } from 'zod'
import type { SearchMatch } from '../host/index.js'
import { plannedPath, planPath } from './paths.js'
import { defineTool } from './tool.js'

const MAX_CONTEXT = 10

export const searchFiles = defineTool({
  name: 'search_files',
  effect: 'read',
  repeatable: true,
  description: (limits) =>
    'Searches file contents with a regular expression (ripgrep), ignored and binary files left out. ' +
    `Answers path:line: text, up to ${limits.search_results} matches.`,
  parameters: z.strictObject({
    pattern: z.string().min(1),
    path: z.string().optional().describe('folder or file to search in'),
    glob: z.string().optional().describe('only files like this: *.ts'),
    ignore_case: z.boolean().optional(),
    literal: z.boolean().optional().describe('pattern is plain text'),
    context: z.int().min(0).max(MAX_CONTEXT).optional().describe('lines around each match'),
  }),
  plan: (args, context) =>
    planPath(
      context,
      args.path || '.',
      'read',
      (path) => `search ${path === '.' ? 'files' : path} for ${args.pattern}`,
    ),
  async execute(args, context, plan) {
    const { path: _, glob, ...query } = args
    const { limits, signal } = context
    const limit = limits.search_results
    const under = plannedPath(plan)
    const found = await context.workspace.search({ ...query, ...(glob ? { glob } : {}), under, limit, signal })
    if (!found.ok) {
      const hint = found.code === 'bad_pattern' ? '; literal: true searches for plain text' : ''
      return { ok: false, content: `${found.message}${hint}` }
    }
    const { more } = found
    const matches = found.matches.filter((match) => context.mayRead(match.path))
    if (matches.length === 0) return { ok: true, content: `[no line matches ${args.pattern}]` }
    const lines = grouped(matches, args.context ?? 0)
    if (more) lines.push('', `[the first ${limit}; narrow the pattern, path or glob]`)
    return { ok: true, content: lines.join('\n'), files_read: [...new Set(matches.map((match) => match.path))] }
  },
})

/** A blank line between files, `--` where lines between two groups of context are left out. */
function grouped(matches: SearchMatch[], context: number): string[] {
  const lines: string[] = []
  let last: SearchMatch | null = null
  for (const match of matches) {
    if (last && last.path !== match.path) lines.push('')
    else if (last && context > 0 && match.line > last.line + 1) lines.push('--')
    const [before, after] = match.is_context ? ['-', '-'] : [':', ':']
    lines.push(`${match.path}${before}${match.line}${after} ${match.text}`)
    last = match
  }
  return lines
}
