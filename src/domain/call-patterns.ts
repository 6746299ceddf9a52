import { z } from 'zod'
import { coversCommand } from './commands.js'
import { matchesGlob } from './globs.js'
import { matchesName, parseRule, type Subject } from './rules.js'

/** `run_command(git diff *)` as a value: a rule that says nothing yet about what it matches. */
export const callPatternSchema = z.strictObject({
  tool: z.string().min(1).max(500),
  pattern: z.string().min(1).max(500),
})
export type CallPattern = z.infer<typeof callPatternSchema>

/** An entry in a list of tools: a name or a pattern of names, for all calls (null) or for those that match. */
export type ToolEntry = { text: string; tool: string; pattern: string | null }

export function readToolEntry(text: string): { ok: true; entry: ToolEntry } | { ok: false; message: string } {
  // Names come from servers too, so a plain one is taken as it is.
  if (!text.includes('(')) return { ok: true, entry: { text, tool: text, pattern: null } }
  const parsed = parseRule('allow', text)
  return parsed.ok ? { ok: true, entry: { text, tool: parsed.rule.tool, pattern: parsed.rule.pattern } } : parsed
}

/**
 * What a list of entries says about single calls, under the tools' own names: for those of which each entry has a
 * pattern. An entry without one is for all calls, whatever others say.
 */
export function callLayer(entries: readonly ToolEntry[], tools: readonly string[]): CallPattern[] {
  return tools.flatMap((tool) => {
    const patterns = entries.filter((entry) => matchesName(entry.tool, tool)).map(({ pattern }) => pattern)
    if (patterns.includes(null)) return []
    return [...new Set(patterns as string[])].map((pattern) => ({ tool, pattern }))
  })
}

/** The patterns under which a layer lets calls of a tool through; none: it says nothing about the tool. */
export function patternsFor(layer: readonly CallPattern[], tool: string): string[] {
  return layer.filter((entry) => matchesName(entry.tool, tool)).map(({ pattern }) => pattern)
}

/**
 * Whether a part of a call is among those that a pattern lets through. A command must match whatever its unknown words
 * become, and what it runs or writes beside its name must be spelled out; what nobody can see into matches nothing.
 */
export function isAmong(patterns: readonly string[], { command, path }: Subject): boolean {
  if (command === undefined) return path !== undefined && patterns.some((pattern) => matchesGlob(pattern, path))
  if (command === null || command.kind === 'write') return false
  if (command.hides && command.spelled.length === 0) return false
  return patterns.some((pattern) => coversCommand(pattern, command))
}
