import { z } from 'zod'
import { type CommandPart, coversCommand, mayMean } from './commands.js'
import { matchesGlob, matchesWord } from './globs.js'
import { modeSchema } from './modes.js'

export const decisionSchema = z.enum(['deny', 'ask', 'allow'])
export type Decision = z.infer<typeof decisionSchema>

/** Narrowest first, so that combining decisions is taking the smaller index. */
const ORDER: readonly Decision[] = ['deny', 'ask', 'allow']

export function narrower(a: Decision, b: Decision): Decision {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b
}

/**
 * A rule such as `run_command(git diff *)`, `write_file(docs/**)` or `mcp__github__*`. For `run_command` the pattern
 * is matched word by word against a parsed command, for every other tool against the paths it touches.
 */
export const ruleSchema = z.strictObject({
  decision: decisionSchema,
  tool: z.string().min(1).max(500),
  pattern: z.string().min(1).max(500).nullable(),
})
export type Rule = z.infer<typeof ruleSchema>

/** Rules together with the mode that decides where none of them speaks. Authority is a list of these. */
export const ruleLayerSchema = z.strictObject({ mode: modeSchema, rules: z.array(ruleSchema) })
export type RuleLayer = z.infer<typeof ruleLayerSchema>

export type RuleParse = { ok: true; rule: Rule } | { ok: false; message: string }

export function parseRule(decision: Decision, text: string): RuleParse {
  const match = /^([A-Za-z_*][\w*-]*)(?:\((.+)\))?$/s.exec(text.trim())
  if (!match) {
    return { ok: false, message: `"${text}" is not a rule: write tool or tool(pattern), as in run_command(git diff *)` }
  }
  return { ok: true, rule: { decision, tool: match[1] as string, pattern: match[2]?.trim() ?? null } }
}

export function formatRule(rule: Rule): string {
  return `${rule.decision} ${rule.tool}${rule.pattern === null ? '' : `(${rule.pattern})`}`
}

/** What a rule is asked about. `command` is null where the command could not be understood. */
export type Subject = { tool: string; path?: string; command?: CommandPart | null }

export function ruleMatches(rule: Rule, subject: Subject): boolean {
  if (!matchesName(rule.tool, subject.tool)) return false
  if (rule.pattern === null) return true
  if (subject.command !== undefined) {
    // A command nobody could parse must not profit from an allow rule, nor escape a deny or an ask.
    if (subject.command === null) return rule.decision !== 'allow'
    return rule.decision === 'allow'
      ? coversCommand(rule.pattern, subject.command)
      : mayMean(rule.pattern, subject.command)
  }
  return subject.path !== undefined && matchesGlob(rule.pattern, subject.path)
}

export function matchesName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.includes('*') && matchesWord(pattern, name))
}
