import { countInWords, plural } from '../domain/index.js'

export function size(bytes: number): string {
  if (bytes < 1024) return plural(bytes, 'byte')
  if (bytes < 1024 * 1024) return `${oneDecimal(bytes / 1024)} KB`
  return `${oneDecimal(bytes / 1024 / 1024)} MB`
}

export function seconds(ms: number): string {
  return `${oneDecimal(ms / 1000)} s`
}

function oneDecimal(n: number): number {
  return Number(n.toFixed(1))
}

/** The lines of a text without their endings. A final line ending ends the last line; it does not start another. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The first characters of a text, at most max, never half a surrogate pair. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, splitsPair(text, max) ? max - 1 : max)
}

/** The last characters of a text, at most max, never half a surrogate pair. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text
  const from = text.length - max
  return text.slice(splitsPair(text, from) ? from + 1 : from)
}

/** Whether a position is in the middle of a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return /^[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]$/.test(text.charAt(at - 1))
}

export function cutLine(line: string, max: number): string {
  if (line.length <= max) return line
  return `${head(line, max)} [… line cut, ${countInWords(line.length)} characters]`
}

export function oneLine(text: string, max = 120): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > max ? `${head(line, max - 1)}…` : line
}
