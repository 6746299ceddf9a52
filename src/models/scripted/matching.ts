import { type Message, textOf } from '../../domain/index.js'
import type { Matcher } from './script.js'

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
  const unwanted = list(matcher.excludes).filter((text_) => text.includes(text_))
  return unwanted.length > 0 ? `text without ${quote(unwanted)}` : null
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

function quote(texts: string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(' and ')
}
