import { plainLine } from '../domain/index.js'

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** One line of text that cannot end the element it stands in, and in which nothing is hidden. */
export function escapeXml(text: string): string {
  return plainLine(text).replace(/[&<>"']/g, (char) => ESCAPES[char] as string)
}
