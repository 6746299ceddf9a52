import { countInWords } from '../domain/index.js'
import { head, tail } from './text.js'

/**
 * The head and the tail of an output that is too long for the model, cut at line borders where there is one nearby,
 * with a line between them that says how much is missing and how to see it. At most max_chars, unless that is less
 * than the line in between.
 */
export function boundOutput(
  content: string,
  { max_chars, call_id }: { max_chars: number; call_id: string },
): { content: string; cut: boolean } {
  if (content.length <= max_chars) return { content, cut: false }
  const way = `; read_output {"output":${JSON.stringify(call_id)}} shows them`
  return { content: headAndTail(content, max_chars, way), cut: true }
}

/** So much of a command or a change is kept with the question about it. */
const DETAIL_CHARS = 200_000

/** Of what a person is asked about, the head and the tail, where it is too long to be kept. */
export function boundDetail(detail: string): { detail: string; detail_cut?: true } {
  if (detail.length <= DETAIL_CHARS) return { detail }
  return { detail: headAndTail(detail, DETAIL_CHARS, ''), detail_cut: true }
}

function headAndTail(content: string, max_chars: number, way: string): string {
  const room = Math.max(0, max_chars - note(content.length, content.length, way).length - 2)
  const start = headLines(content, Math.ceil((room * 2) / 3))
  const end = tailLines(content, Math.floor(room / 3))
  const missing = content.length - start.length - end.length
  const joint = start === '' || start.endsWith('\n') ? '' : '\n'
  return `${start}${joint}${note(missing, content.length, way)}\n${end}`
}

function note(missing: number, total: number, way: string): string {
  return `[… ${countInWords(missing)} of ${countInWords(total)} characters left out${way} …]`
}

function headLines(content: string, max: number): string {
  const start = head(content, max)
  const border = start.lastIndexOf('\n') + 1
  // A border far back would give away most of the room: half a line is then worth more than a clean cut.
  return border > max / 2 ? start.slice(0, border) : start
}

function tailLines(content: string, max: number): string {
  if (max === 0) return ''
  const end = tail(content, max)
  if (content.charAt(content.length - end.length - 1) === '\n') return end
  const border = end.indexOf('\n') + 1
  return border > 0 && border < max / 2 ? end.slice(border) : end
}
