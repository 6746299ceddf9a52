import { z } from 'zod'
import { countInWords } from '../domain/index.js'
import type { Entry } from '../host/index.js'
import { plannedPath, planPath } from './paths.js'
import { size } from './text.js'
import { defineTool } from './tool.js'

const MAX_ENTRIES = 500

export const listDir = defineTool({
  name: 'list_dir',
  effect: 'read',
  repeatable: true,
  description: () => `Lists one folder: folders first, marked with /, then files with sizes. Up to ${MAX_ENTRIES}.`,
  parameters: z.strictObject({
    path: z.string().optional().describe('default: the workspace itself'),
  }),
  plan: (args, context) => planPath(context, args.path || '.', 'read', (path) => `list ${path}`),
  async execute(_args, context, plan) {
    const path = plannedPath(plan)
    const listing = await context.workspace.list(path)
    if (!listing.ok) {
      const hint = listing.code === 'not_a_directory' ? `${path} is a file: use read_file` : listing.message
      return { ok: false, content: hint }
    }
    const { entries } = listing
    if (entries.length === 0) return { ok: true, content: `[${path} is empty]` }
    const lines = [...entries].sort(foldersFirst).slice(0, MAX_ENTRIES).map(line)
    if (entries.length > MAX_ENTRIES) {
      lines.push(`[${MAX_ENTRIES} of ${countInWords(entries.length)} entries; find_files finds the others by pattern]`)
    }
    return { ok: true, content: lines.join('\n') }
  },
})

function foldersFirst(a: Entry, b: Entry): number {
  const folders = Number(b.kind === 'directory') - Number(a.kind === 'directory')
  return folders || (a.name < b.name ? -1 : 1)
}

function line(entry: Entry): string {
  if (entry.kind === 'directory') return `${entry.name}/`
  return `${entry.name}  ${entry.kind === 'file' ? size(entry.bytes) : entry.kind}`
}
