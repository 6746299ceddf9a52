import { z } from 'zod'
import { countInWords, plural } from '../domain/index.js'
import { head, oneLine, splitsPair } from './text.js'
import { defineTool, type ToolLimits } from './tool.js'

export const readOutput = defineTool({
  name: 'read_output',
  effect: 'read',
  repeatable: true,
  description: (limits) =>
    'Shows more of an earlier output that was cut or removed, by the id in the note left there: ' +
    `up to ${countInWords(roomFor(limits))} characters from offset, or the lines that contain search.`,
  parameters: z.strictObject({
    output: z.string().min(1).describe('id from the note'),
    offset: z.int().min(0).optional().describe('characters to skip'),
    limit: z.int().min(1).optional().describe('characters to show'),
    search: z.string().optional(),
  }),
  plan: async (args) => ({ ok: true, plan: { summary: `read output ${oneLine(args.output)}`, paths: [] } }),
  async execute(args, context) {
    const text = await context.readOutput(args.output)
    if (text === null) {
      const hint = 'take the id from a note that says characters were left out or removed'
      return { ok: false, content: `there is no output "${oneLine(args.output)}": ${hint}` }
    }
    const room = roomFor(context.limits)
    if (args.search) return { ok: true, content: searched(text, args.search, room) }
    const offset = args.offset ?? 0
    if (offset > 0 && offset >= text.length) {
      return {
        ok: false,
        content: `offset ${offset} is past the end: the output has ${plural(text.length, 'character')}`,
      }
    }
    const start = splitsPair(text, offset) ? offset - 1 : offset
    const rest = text.slice(start)
    // At least one whole character, or reading on would never end.
    const part = head(rest, Math.min(args.limit ?? room, room)) || head(rest, 2)
    const end = start + part.length
    const more = end < text.length ? `; go on with offset ${end}` : ''
    return { ok: true, content: `[characters ${start} to ${end} of ${text.length}${more}]\n${part}` }
  },
})

/** Leaves room for the line above the part, so that this output is never cut itself. */
function roomFor(limits: ToolLimits): number {
  return Math.max(2, limits.output_chars - 200)
}

function searched(text: string, search: string, room: number): string {
  const found: string[] = []
  let left = room
  let hits = 0
  let offset = 0
  for (const [i, line] of text.split('\n').entries()) {
    if (line.includes(search)) {
      hits++
      const shown = `${i + 1} (offset ${offset}): ${oneLine(around(line, search), 300)}`
      left -= shown.length + 1
      if (left >= 0 || found.length === 0) found.push(shown)
    }
    offset += line.length + 1
  }
  if (hits === 0) return `[no line contains ${JSON.stringify(oneLine(search))}]`
  const some = found.length < hits ? `, the first ${countInWords(found.length)} shown` : ''
  return [`[${plural(hits, 'line')} found${some}]`, ...found].join('\n')
}

/** The part of a long line that the reader looks for. */
function around(line: string, search: string): string {
  return line.length <= 300 ? line : line.slice(Math.max(0, line.indexOf(search) - 100))
}
