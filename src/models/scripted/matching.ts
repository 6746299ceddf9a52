import { type Message, textOf } from '../../domain/index.js'
import { ANYTHING, type Matcher } from './script.js'

/** What a script's expectations are about: what the model was told last. */
export function lastText(messages: readonly Message[]): string {
  const last = messages.at(-1)
  switch (last?.role) {
    case 'user':
      return last.content
    case 'tool':
      return last.results.map((result) => result.content).join('\n')
    case 'assistant':
      return textOf(last.parts)
    default:
      return ''
  }
}

/** What does not hold, in words; null when all does. */
export function mismatch(matcher: Matcher | undefined, text: string): string | null {
  if (matcher === undefined) return null
  if (typeof matcher === 'string') return mismatch({ contains: matcher }, text)
  const missing = list(matcher.contains).filter((wanted) => !text.includes(wanted))
  if (missing.length > 0) return `text containing ${quote(missing)}`
  if (matcher.matches !== undefined && !new RegExp(matcher.matches, 's').test(text)) {
    return `text matching /${matcher.matches}/`
  }
  if (matcher.like !== undefined && !isLike(text, matcher.like)) return difference(text, matcher.like)
  const unwanted = list(matcher.excludes).filter((text_) => text.includes(text_))
  return unwanted.length > 0 ? `text without ${quote(unwanted)}` : null
}

function isLike(text: string, pattern: string): boolean {
  const [start = '', ...rest] = pattern.split(ANYTHING)
  const end = rest.pop()
  if (end === undefined) return text === start
  if (!text.startsWith(start)) return false
  let at = start.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - at >= end.length && text.endsWith(end)
}

/** The text may be long, so it is told from where it is another. */
function difference(text: string, pattern: string): string {
  const whole = `text like ${quote([brief(pattern)])}`
  const lines = pattern.split('\n')
  const given = text.split('\n')
  const at = lines.findIndex((line, index) => !isLike(given[index] ?? '', line))
  if (lines.length === 1 || at < 0) return whole
  return `line ${at + 1} like ${quote([brief(lines[at] ?? '')])} instead of ${quote([brief(given[at] ?? '')])}`
}

function brief(text: string): string {
  return text.length > 160 ? `${text.slice(0, 159)}…` : text
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

function quote(texts: string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(' and ')
}
