import type { Call } from './authority.js'
import { type Rule, ruleSchema } from './rules.js'

/** What a standing yes would cover: this tool on any path, or commands that begin with the same two words. */
export function grantFor({ tool, commands }: Pick<Call, 'tool' | 'commands'>): Rule | null {
  if (commands === undefined) return ruleOf(tool, null)
  const all = commands ?? []
  const alone = all.filter((part) => part.kind === 'write' || !part.rides)
  const parts = alone.length > 0 ? alone : all
  const [part] = parts
  // A yes to several commands, to a file that is written or to what cannot be seen is a yes to this once.
  if (parts.length !== 1 || part?.kind !== 'command' || part.hides || part.spelled.length > 0) return null
  const shown = part.words.slice(0, 2)
  // In a rule a star stands for more than itself, and a blank ends a word.
  if (!shown.every((word) => typeof word === 'string' && /^[^\s*]+$/.test(word))) return null
  return ruleOf(tool, part.words.length > 2 ? `${shown.join(' ')} *` : shown.join(' '))
}

/** What is too long for a rule cannot be granted. */
function ruleOf(tool: string, pattern: string | null): Rule | null {
  const rule: Rule = { decision: 'allow', tool, pattern }
  return ruleSchema.safeParse(rule).success ? rule : null
}

/** What a standing yes covers, as a person is told. */
export function grantInWords({ tool, pattern }: Rule): string {
  return pattern === null ? `every ${tool}` : `every \`${pattern}\``
}
