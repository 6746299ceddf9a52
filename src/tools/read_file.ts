import { z } from 'zod'
import { countInWords, plural } from '../domain/index.js'
import { explainReadFault } from './file_faults.js'
import { plannedPath, planPath } from './paths.js'
import { cutLine, linesOf, size } from './text.js'
import { defineTool, type ToolLimits, type ToolOutput } from './tool.js'

const MAX_LINE_CHARS = 2000

export const readFile = defineTool({
  name: 'read_file',
  effect: 'read',
  repeatable: true,
  description: (limits) =>
    `Reads a text file as numbered lines, up to ${countInWords(limits.read_lines)} lines or ` +
    `${countInWords(roomFor(limits))} characters at a time, and says how to go on. ` +
    `Files up to ${size(limits.read_bytes)}. The number and the tab before each line are not part of the file.`,
  parameters: z.strictObject({
    path: z.string().min(1).describe('relative to the workspace'),
    offset: z.int().min(0).optional().describe('first line, from 1'),
    limit: z.int().min(1).optional().describe('number of lines'),
  }),
  plan: (args, context) => planPath(context, args.path, 'read', (path) => `read ${path}`),
  async execute(args, context, plan) {
    const path = plannedPath(plan)
    const file = await context.workspace.readText(path, { max_bytes: context.limits.read_bytes })
    if (!file.ok) return { ok: false, content: await explainReadFault(file, path, context) }
    const lines = linesOf(file.text)
    const files_read = [path]
    if (lines.length === 0) return { ok: true, content: `[${path} is empty]`, files_read }
    const offset = Math.max(1, args.offset ?? 1)
    if (offset > lines.length) {
      return { ok: false, content: `offset ${offset} is past the end: ${path} has ${plural(lines.length, 'line')}` }
    }
    return { ...numbered(lines, offset, args.limit, context.limits, file.text.includes('\r\n')), files_read }
  },
})

/** Stops where the output would be cut anyway, so that reading goes on at a line instead of in the middle. */
function numbered(
  lines: string[],
  offset: number,
  limit: number | undefined,
  limits: ToolLimits,
  crlf: boolean,
): ToolOutput {
  const shown: string[] = []
  const last = Math.min(lines.length, offset - 1 + Math.min(limit ?? limits.read_lines, limits.read_lines))
  let room = roomFor(limits)
  for (let i = offset - 1; i < last; i++) {
    const line = `${String(i + 1).padStart(5)}\t${cutLine(lines[i] ?? '', MAX_LINE_CHARS)}`
    room -= line.length + 1
    if (room < 0 && shown.length > 0) break
    shown.push(line)
  }
  const end = offset + shown.length - 1
  if (end < lines.length || offset > 1) {
    const more = end < lines.length ? `; go on with offset ${end + 1}` : ''
    shown.push(`[lines ${offset} to ${end} of ${lines.length}${more}]`)
  }
  if (crlf) shown.push('[lines end with CRLF]')
  return { ok: true, content: shown.join('\n') }
}

function roomFor(limits: ToolLimits): number {
  return Math.max(1, limits.output_chars - 200)
}
