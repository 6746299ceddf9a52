import { nearest, PIN_SCOPES, type PinScope, quoted } from '../../domain/index.js'
import { type Parsed, wordsOf } from './command.js'

const OPTIONS = PIN_SCOPES.map((scope) => `--${scope}`)

export const SCOPE_USAGE = `[${OPTIONS.join('|')}]`

/** The scope among words, `session` where none is named, and the words that are no options. */
function scopeOf(given: string): Parsed<{ scope: PinScope; words: string[] }> {
  const scopes: PinScope[] = []
  const words: string[] = []
  for (const word of wordsOf(given)) {
    const scope = PIN_SCOPES.find((name) => word === `--${name}`)
    if (scope) scopes.push(scope)
    else if (!word.startsWith('-')) words.push(word)
    else {
      const near = nearest(word, OPTIONS)
      const hint = near === null ? `there are ${OPTIONS.join(', ')}` : `did you mean ${near}?`
      return { ok: false, message: `There is no option ${quoted(word)}: ${hint}` }
    }
  }
  if (scopes.length > 1) return { ok: false, message: 'A pin has one scope: name one of them.' }
  return { ok: true, args: { scope: scopes[0] ?? 'session', words } }
}

export function parsePin(given: string): Parsed<{ name: string; scope: PinScope }> {
  const parsed = scopeOf(given)
  if (!parsed.ok) return parsed
  const { scope, words } = parsed.args
  const [name, ...more] = words
  if (name === undefined || more.length > 0) return { ok: false, message: 'Name one handle or profile.' }
  return { ok: true, args: { name, scope } }
}

export function parseScope(given: string): Parsed<PinScope> {
  const parsed = scopeOf(given)
  if (!parsed.ok) return parsed
  const { scope, words } = parsed.args
  return words.length > 0 ? { ok: false, message: 'Name a scope only.' } : { ok: true, args: scope }
}
